import { type LogEntry, log, setLogTransport } from '../log.ts';
import { ensureContainer, getContainer } from './container.ts';
import { isMethod } from './value.ts';

// Connects an adapter's log and readiness notices to the original OpenTabs platform. For the original platform, this
// module assigns functions to the container that post log entries and readiness notices to the window. In opentabs,
// accessors of the container replace the functions with private functions of the extension's host, which post no
// messages.

const initialContainer = ensureContainer();
if (initialContainer) {
  initialContainer._setLogTransport = setLogTransport;
  initialContainer.log = log;
}

/**
 * Sends an adapter's log entries and readiness notices to the original OpenTabs platform. Returns a function that stops
 * sending log entries.
 */
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
