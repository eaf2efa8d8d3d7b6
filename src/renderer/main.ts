/** The page's entry: connects to the host that served it, then shows the app. */
import './zod-without-eval.ts';
import { mount } from 'svelte';
import App from './App.svelte';
import { loadView } from './lazy-views.svelte.ts';
import { AppState } from './state/app.svelte.ts';
import { connect } from './state/host/connection.ts';
import { parseRoute } from './state/page/route.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/charts.css';

const target = document.getElementById('app');
if (target === null) throw new Error('internal: the page has no #app');
const [connection] = await Promise.all([
  connect(),
  loadView(parseRoute(window.location.hash)),
]);
mount(App, { target, props: { app: new AppState(connection) } });
