document.title = "Gradwire";
