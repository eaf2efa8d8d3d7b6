/** The page's begin: connects to the host that served it, then shows the app. */
import './zod-without-eval.ts';
import { mount } from 'svelte';
import App from './App.svelte';
import { AppState } from './state/app.svelte.ts';
import { connect } from './state/connection.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/charts.css';

const target = document.getElementById('app');
if (target === null) throw new Error('internal: the page has no #app');
const app = new AppState(await connect());
mount(App, { target, props: { app } });
