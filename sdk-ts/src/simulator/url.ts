// The page's URL and URLSearchParams. The vendored module decodes a table with atob while it loads, so atob is defined
// first.
import './atob.ts';

export {
  URL as FakeURL,
  URLSearchParams as FakeURLSearchParams,
} from '../../vendor/whatwg-url-minimum/whatwg-url-minimum.mjs';
