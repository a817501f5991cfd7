import { log } from '../log.ts';
import { container } from './container.ts';
import { apply } from './primordials.ts';
import { isBag, messageOf } from './value.ts';

// Adapters of one document share one patch of `history`. `__openTabs._navigationInterceptor` stores the callbacks by
// plugin name, and the original methods. Adapters of the original OpenTabs SDK use the same object.

const { forEach: forEachOfMap } = Map.prototype;

interface Interceptor {
  callbacks: Map<string, (url: string) => void>;
  origPushState: History['pushState'];
  origReplaceState: History['replaceState'];
}

function isInterceptor(value: unknown): value is Interceptor {
  return isBag(value) && value.callbacks instanceof Map;
}

/**
 * Calls `onNavigate` after each change of the document's URL: by `history`, by a link to a fragment, by going back. Passes
 * its errors to `failed`. Returns a function that stops watching.
 */
export function watchNavigation(
  name: string,
  onNavigate: (url: string) => void,
  failed: (error: unknown) => void,
): () => void {
  let last = location.href;
  const changed = () => {
    if (location.href === last) return;
    last = location.href;
    try {
      onNavigate(last);
    } catch (error) {
      failed(error);
    }
  };
  const { callbacks } = sharedInterceptor();
  callbacks.set(name, changed);
  window.addEventListener('popstate', changed);
  window.addEventListener('hashchange', changed);
  return () => {
    window.removeEventListener('popstate', changed);
    window.removeEventListener('hashchange', changed);
    if (callbacks.get(name) === changed) callbacks.delete(name);
    if (callbacks.size === 0) removeInterceptor();
  };
}

function sharedInterceptor(): Interceptor {
  const own = container();
  if (isInterceptor(own?._navigationInterceptor)) return own._navigationInterceptor;
  const interceptor: Interceptor = {
    callbacks: new Map(),
    origPushState: history.pushState,
    origReplaceState: history.replaceState,
  };
  history.pushState = patched(interceptor, interceptor.origPushState);
  history.replaceState = patched(interceptor, interceptor.origReplaceState);
  if (own) own._navigationInterceptor = interceptor;
  return interceptor;
}

function patched(interceptor: Interceptor, original: History['pushState']): History['pushState'] {
  return function (this: History, ...args) {
    apply(original, this, args);
    apply(forEachOfMap, interceptor.callbacks, [
      (callback: (url: string) => void, name: string) => {
        try {
          callback(location.href);
        } catch (error) {
          // The page called this function, so an error of an adapter must not reach the page.
          log.warn(`${name}: onNavigate failed: ${messageOf(error)}`);
        }
      },
    ]);
  };
}

function removeInterceptor(): void {
  const own = container();
  if (!isInterceptor(own?._navigationInterceptor)) return;
  history.pushState = own._navigationInterceptor.origPushState;
  history.replaceState = own._navigationInterceptor.origReplaceState;
  delete own._navigationInterceptor;
}
