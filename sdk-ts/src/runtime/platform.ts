import { type LogEntry, log, setLogTransport } from '../log.ts';
import { isBag, isMethod } from './value.ts';

// How an adapter meets the platform it runs on: the log and the notice that its readiness has changed. This platform
// takes both from the container, privately, by properties that it owns. An existing host of adapters reads messages of the
// window instead, so that they are sent there, and only there: this platform never calls what is written here for it.

if (!isBag(globalThis.__openTabs)) globalThis.__openTabs = {};
{
  const container = globalThis.__openTabs;
  if (isBag(container)) {
    container._setLogTransport = setLogTransport;
    container.log = log;
  }
}

/** Tells an existing host what `plugin` logs and when its readiness has changed. Returns the function that ends this. */
export function connect(plugin: string): () => void {
  const container = globalThis.__openTabs;
  if (!isBag(container)) return () => undefined;
  const send = (message: Record<string, unknown>) => window.postMessage({ ...message, plugin }, '*');
  const nonceOf = (key: '_logNonce' | '_readinessNonce') => {
    const now = globalThis.__openTabs;
    return isBag(now) && typeof now[key] === 'string' ? now[key] : '';
  };
  container._notifyReadinessChanged = () => {
    const nonce = nonceOf('_readinessNonce');
    if (nonce !== '') send({ type: 'opentabs:readiness-changed', nonce });
  };
  const transport = (entry: LogEntry) =>
    send({ type: 'opentabs:plugin-logs', entries: [entry], nonce: nonceOf('_logNonce') });
  const restore = isMethod(container._setLogTransport) ? container._setLogTransport(transport) : undefined;
  return isMethod(restore) ? () => void restore() : () => undefined;
}
