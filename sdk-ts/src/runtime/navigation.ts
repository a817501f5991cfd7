import { log } from '../log.ts';
import { getContainer } from './container.ts';
import { apply } from './primordials.ts';
import { hasProperties, readMessage } from './value.ts';

// All adapters of a document share one patch of `history.pushState` and `history.replaceState`. Adapters of the
// original OpenTabs SDK share `__openTabs._navigationInterceptor`, which has the original methods of `history`.

const { forEach: forEachOfMap } = Map.prototype;

interface Interceptor {
  callbacks: Map<string, (url: string) => void>;
  origPushState: History['pushState'];
  origReplaceState: History['replaceState'];
}

function isInterceptor(value: unknown): value is Interceptor {
  return hasProperties(value) && value.callbacks instanceof Map;
}

/**
 * Calls `onNavigate` whenever the document's URL changes without loading a new document: by `history.pushState`, a link
 * to a `#fragment`, or the Back button.
 */
export function watchNavigation(
  name: string,
  onNavigate: (url: string) => void,
  reportError: (error: unknown) => void,
): () => void {
  let lastUrl = location.href;
  const notifyIfUrlChanged = () => {
    if (location.href === lastUrl) return;
    lastUrl = location.href;
    try {
      onNavigate(lastUrl);
    } catch (error) {
      reportError(error);
    }
  };
  const { callbacks } = getSharedInterceptor();
  callbacks.set(name, notifyIfUrlChanged);
  window.addEventListener('popstate', notifyIfUrlChanged);
  window.addEventListener('hashchange', notifyIfUrlChanged);
  return () => {
    window.removeEventListener('popstate', notifyIfUrlChanged);
    window.removeEventListener('hashchange', notifyIfUrlChanged);
    if (callbacks.get(name) === notifyIfUrlChanged) callbacks.delete(name);
    if (callbacks.size === 0) removeInterceptor();
  };
}

function getSharedInterceptor(): Interceptor {
  const container = getContainer();
  if (isInterceptor(container?._navigationInterceptor)) return container._navigationInterceptor;
  const newInterceptor: Interceptor = {
    callbacks: new Map(),
    origPushState: history.pushState,
    origReplaceState: history.replaceState,
  };
  history.pushState = patchHistoryMethod(newInterceptor, newInterceptor.origPushState);
  history.replaceState = patchHistoryMethod(newInterceptor, newInterceptor.origReplaceState);
  if (container) container._navigationInterceptor = newInterceptor;
  return newInterceptor;
}

function patchHistoryMethod(newInterceptor: Interceptor, originalMethod: History['pushState']): History['pushState'] {
  return function (this: History, ...args) {
    apply(originalMethod, this, args);
    apply(forEachOfMap, newInterceptor.callbacks, [
      (callback: (url: string) => void, name: string) => {
        try {
          callback(location.href);
        } catch (error) {
          // onNavigate runs during the page's call of `history.pushState`, which must not throw an adapter's error into
          // the page's script.
          log.warn(`${name}: onNavigate failed: ${readMessage(error)}`);
        }
      },
    ]);
  };
}

function removeInterceptor(): void {
  const container = getContainer();
  if (!isInterceptor(container?._navigationInterceptor)) return;
  history.pushState = container._navigationInterceptor.origPushState;
  history.replaceState = container._navigationInterceptor.origReplaceState;
  delete container._navigationInterceptor;
}
