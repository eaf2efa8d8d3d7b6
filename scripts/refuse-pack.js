// prepack: a package of the checkout itself would have no build, or an old one.
process.stderr.write('gradwire: pack it with: npm run pack\n');
process.exitCode = 1;
