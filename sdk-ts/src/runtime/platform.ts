import { type LogEntry, log, setLogTransport } from '../log.ts';
import { ensureContainer, getContainer } from './container.ts';
import { isMethod } from './value.ts';

// For the original OpenTabs platform, functions of the container post log entries and readiness notices to the window.
// In opentabs, the container's log and readiness functions are private functions of the extension's host.

const initialContainer = ensureContainer();
if (initialContainer) {
  initialContainer._setLogTransport = setLogTransport;
  initialContainer.log = log;
}

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
  const postLogEntry = (entry: LogEntry) =>
    postToWindow({ type: 'opentabs:plugin-logs', entries: [entry], nonce: readNonce('_logNonce') });
  const restoreTransport = isMethod(container._setLogTransport) ? container._setLogTransport(postLogEntry) : undefined;
  return isMethod(restoreTransport) ? () => void restoreTransport() : () => undefined;
}
