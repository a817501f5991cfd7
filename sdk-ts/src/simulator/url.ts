// The classes URL and URLSearchParams of the simulated page. `atob.ts` must be imported first, because the vendored URL
// module decodes a table with `atob` while it loads.
import './atob.ts';

export {
  URL as FakeURL,
  URLSearchParams as FakeURLSearchParams,
} from '../../vendor/whatwg-url-minimum/whatwg-url-minimum.mjs';
