import { definePreScript } from '@opentabs/sdk/pre-script';

// The site sends a token with its own requests and keeps it nowhere else, so they are watched from the start.
definePreScript(({ set, log }) => {
  const send = window.fetch;
  window.fetch = (input, init) => {
    const token = tokenOf(init);
    if (token !== null) set('token', token);
    return send.call(window, input, init);
  };
  log.debug('watching for the token');
});

function tokenOf(init: RequestInit | undefined): string | null {
  try {
    return new Headers(init?.headers).get('x-ticket-token');
  } catch {
    return null; // the site's own mistake, which its request will tell
  }
}
