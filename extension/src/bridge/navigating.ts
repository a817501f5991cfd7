/** Navigation is the part of the page's Navigation that is used here. */
export type Navigation = EventTarget;

/**
 * watchNavigation tells when a navigation to another document begins, while the code that asks for it still runs: so it is
 * told ahead of the result of a tool that navigates and returns. It tells false when the page has taken the navigation
 * over or it came to nothing; not every navigation without a document says so (a download does not).
 */
export function watchNavigation(navigation: Navigation, tell: (navigating: boolean) => void): void {
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
    if (toAnotherDocument(event)) tell(true);
  });
  // A page that intercepts a navigation, as routers do, stays; so does one whose navigation was stopped.
  for (const name of ['currententrychange', 'navigatesuccess', 'navigateerror']) listen(name, () => tell(false));
}

function toAnotherDocument(event: Event): boolean {
  const destination: unknown = Reflect.get(event, 'destination');
  const sameDocument = destination instanceof Object && Reflect.get(destination, 'sameDocument') === true;
  return !sameDocument && Reflect.get(event, 'downloadRequest') === null;
}
