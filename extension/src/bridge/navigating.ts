export type Navigation = EventTarget;

export interface NavigationEvents {
  /**
   * onNavigationChanged reports that a navigation to another document began, or that the navigation ended without a new
   * document.
   */
  onNavigationChanged(isNavigating: boolean): void;
  /** onUrlChanged reports that the URL changed by a navigation within the document. */
  onUrlChanged(): void;
}

/**
 * watchNavigation reports a navigation synchronously, so that the report precedes the result of the tool that navigated
 * the page. watchNavigation reports the end of a navigation if the page intercepts the navigation, or if the navigation
 * fails. Chrome fires no event for the end of a navigation that becomes a download.
 */
export function watchNavigation(navigation: Navigation, events: NavigationEvents): void {
  // The bridge's navigation listener is registered first and in the capture phase, so it runs before the page's
  // listeners. Events that scripts of the page dispatch are not trusted, and are ignored.
  const addWindowListener = (name: string, onEvent: (event: Event) => void) =>
    navigation.addEventListener(
      name,
      (event) => {
        if (event.isTrusted) onEvent(event);
      },
      { capture: true },
    );
  addWindowListener('navigate', (event) => {
    if (isToAnotherDocument(event)) events.onNavigationChanged(true);
  });
  // Despite a navigation, the document stays if the page intercepts the navigation, as routers do, or if the navigation
  // was stopped.
  for (const name of ['navigatesuccess', 'navigateerror'])
    addWindowListener(name, () => events.onNavigationChanged(false));
  addWindowListener('currententrychange', () => {
    events.onNavigationChanged(false);
    events.onUrlChanged();
  });
}

function isToAnotherDocument(event: Event): boolean {
  const destination: unknown = Reflect.get(event, 'destination');
  const sameDocument = destination instanceof Object && Reflect.get(destination, 'sameDocument') === true;
  return !sameDocument && Reflect.get(event, 'downloadRequest') === null;
}
