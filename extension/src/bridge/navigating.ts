/** Navigation is the part of the page's Navigation that is used here. */
export type Navigation = EventTarget;

/** Told is told of the page's navigations. */
export interface Told {
  /** navigating tells that the document is about to be left, or is not after all. */
  navigating(on: boolean): void;
  /** moved tells that the page has another address, without another document. */
  moved(): void;
}

/**
 * watchNavigation tells when a navigation to another document begins, while the code that asks for it still runs: so it is
 * told ahead of the result of a tool that navigates and returns. It tells that it is over when the page has taken the navigation
 * over or it came to nothing; not every navigation without a document says so (a download does not).
 */
export function watchNavigation(navigation: Navigation, tell: Told): void {
  // Capture, and first of all: the page's listeners come later, and its own events are not trusted.
  const listen = (name: string, heard: (event: Event) => void) =>
    navigation.addEventListener(
      name,
      (event) => {
        if (event.isTrusted) heard(event);
      },
      { capture: true },
    );
  listen('navigate', (event) => {
    if (toAnotherDocument(event)) tell.navigating(true);
  });
  // A page that intercepts a navigation, as routers do, stays; so does one whose navigation was stopped.
  for (const name of ['navigatesuccess', 'navigateerror']) listen(name, () => tell.navigating(false));
  listen('currententrychange', () => {
    tell.navigating(false);
    tell.moved();
  });
}

function toAnotherDocument(event: Event): boolean {
  const destination: unknown = Reflect.get(event, 'destination');
  const sameDocument = destination instanceof Object && Reflect.get(destination, 'sameDocument') === true;
  return !sameDocument && Reflect.get(event, 'downloadRequest') === null;
}
