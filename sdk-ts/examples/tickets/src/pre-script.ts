import { definePreScript } from '@opentabs/sdk/pre-script';

// The site sends a token with its own requests and does not store the token, so the pre-script watches every request.
definePreScript(({ set, log }) => {
  const originalFetch = window.fetch;
  window.fetch = (input, init) => {
    const token = readToken(init);
    if (token !== null) set('token', token);
    return originalFetch.call(window, input, init);
  };
  log.debug('watching for the token');
});

function readToken(init: RequestInit | undefined): string | null {
  try {
    return new Headers(init?.headers).get('x-ticket-token');
  } catch {
    return null; // If the site's headers are invalid, the original fetch throws too.
  }
}
