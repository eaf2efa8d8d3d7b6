/** The page's entry: connects to the host that served it, then shows the app. */
import './zod-without-eval.ts';
import { mount } from 'svelte';
import App from './App.svelte';
import { AppState } from './state/app.svelte.ts';
import { connect } from './state/host/connection.ts';
import { parseRoute } from './state/places/route.ts';
import { viewOf } from './views.svelte.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/charts.css';
import './styles/patterns.css';

const target = document.getElementById('app');
if (target === null) throw new Error('internal: the page has no #app');
const [connection] = await Promise.all([
  connect(),
  viewOf(parseRoute(window.location.hash)).part.load(),
]);
mount(App, { target, props: { app: new AppState(connection) } });
