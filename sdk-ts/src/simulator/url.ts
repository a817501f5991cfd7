// The page's URL and URLSearchParams. atob is defined before the vendored URL module loads, because this module decodes
// a table with atob while loading.
import './atob.ts';

export {
  URL as FakeURL,
  URLSearchParams as FakeURLSearchParams,
} from '../../vendor/whatwg-url-minimum/whatwg-url-minimum.mjs';
