import { type LogEntry, log, setLogTransport } from '../log.ts';
import { ensureContainer, getContainer } from './container.ts';
import { isMethod } from './value.ts';

// Connects an adapter's log and its readiness notices to the platform that runs the adapter. The host of this
// repository has private accessors for the log and the readiness notices, and ignores values that this module assigns.
// The original OpenTabs platform calls the functions that this module assigns; these functions post messages to the
// window.

const containerAtStart = ensureContainer();
if (containerAtStart) {
  containerAtStart._setLogTransport = setLogTransport;
  containerAtStart.log = log;
}

/** Posts log entries and readiness notices to the original OpenTabs platform. Returns a function that stops the logs. */
export function connectToPlatform(plugin: string): () => void {
  const container = getContainer();
  if (!container) return () => undefined;
  const postToWindow = (message: Record<string, unknown>) => window.postMessage({ ...message, plugin }, '*');
  const readNonce = (key: '_logNonce' | '_readinessNonce') => {
    const nonce = getContainer()?.[key];
    return typeof nonce === 'string' ? nonce : '';
  };
  container._notifyReadinessChanged = () => {
    const nonce = readNonce('_readinessNonce');
    if (nonce !== '') postToWindow({ type: 'opentabs:readiness-changed', nonce });
  };
  const transport = (entry: LogEntry) =>
    postToWindow({ type: 'opentabs:plugin-logs', entries: [entry], nonce: readNonce('_logNonce') });
  const restore = isMethod(container._setLogTransport) ? container._setLogTransport(transport) : undefined;
  return isMethod(restore) ? () => void restore() : () => undefined;
}
