import { type LogEntry, log, setLogTransport } from '../log.ts';
import { container, openContainer } from './container.ts';
import { isMethod } from './value.ts';

// Connects an adapter's log and its readiness notices to the platform that runs the adapter. The host of this repository
// defines accessors for both in the container, so they stay private, and ignores the values assigned here. The original
// OpenTabs platform calls those values, which post messages to the window.

const early = openContainer();
if (early) {
  early._setLogTransport = setLogTransport;
  early.log = log;
}

/** Posts log entries and readiness notices to the original OpenTabs platform. Returns a function that stops the logs. */
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
