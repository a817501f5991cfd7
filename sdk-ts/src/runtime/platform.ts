import { type LogEntry, log, setLogTransport } from '../log.ts';
import { container, openContainer } from './container.ts';
import { isMethod } from './value.ts';

// How an adapter meets the platform it runs on: the log and the notice that its readiness has changed. This platform
// takes both from the container, privately, by properties that it owns. An existing host of adapters reads messages of the
// window instead, so that they are sent there, and only there: this platform never calls what is written here for it.

const early = openContainer();
if (early) {
  early._setLogTransport = setLogTransport;
  early.log = log;
}

/** Tells an existing host what `plugin` logs and when its readiness has changed. Returns the function that ends this. */
export function connect(plugin: string): () => void {
  const own = container();
  if (!own) return () => undefined;
  const send = (message: Record<string, unknown>) => window.postMessage({ ...message, plugin }, '*');
  const nonceOf = (key: '_logNonce' | '_readinessNonce') => {
    const nonce = container()?.[key];
    return typeof nonce === 'string' ? nonce : '';
  };
  own._notifyReadinessChanged = () => {
    const nonce = nonceOf('_readinessNonce');
    if (nonce !== '') send({ type: 'opentabs:readiness-changed', nonce });
  };
  const transport = (entry: LogEntry) =>
    send({ type: 'opentabs:plugin-logs', entries: [entry], nonce: nonceOf('_logNonce') });
  const restore = isMethod(own._setLogTransport) ? own._setLogTransport(transport) : undefined;
  return isMethod(restore) ? () => void restore() : () => undefined;
}
