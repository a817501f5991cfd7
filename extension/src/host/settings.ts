import {
  apply,
  construct,
  dataProperty,
  defineProperty,
  deleteProperty,
  isObject,
  locationHostGetter,
  lookup,
  makeBareObject,
  NativeURL,
  ownKeys,
  realLocation,
  slice,
  urlHostGetter,
} from './primordials.ts';

/** Settings stores the settings of one plugin in one document. */
export interface Settings {
  /**
   * The field `config` maps the key of each plugin setting to its value. The `config` object is never replaced by
   * another object, because an adapter can keep a reference to it.
   */
  readonly config: object;
  update(settings: unknown): void;
}

export function makeSettings(): Settings {
  const config = makeBareObject();
  const update = (settings: unknown) => {
    const keys = ownKeys(config);
    for (let i = 0; i < keys.length; i++) deleteProperty(config, keys[i] ?? '');
    if (!isObject(settings)) return;
    visitFields(lookup(settings, 'values'), (key, value) => set(key, value));
    visitFields(lookup(settings, 'urls'), (key, instances) => {
      const url = findUrlForThisHost(instances);
      if (url !== undefined) set(key, url);
    });
  };
  const set = (key: string, value: unknown) => defineProperty(config, key, dataProperty(value));
  return { config, update };
}

/** findUrlForThisHost searches an object for the first URL with the same host as the current document. */
function findUrlForThisHost(instances: unknown): string | undefined {
  const currentHost = normalizeHost(apply(locationHostGetter, realLocation, []));
  let matchingUrl: string | undefined;
  visitFields(instances, (_, url) => {
    if (matchingUrl === undefined && typeof url === 'string' && readHost(url) === currentHost) matchingUrl = url;
  });
  return matchingUrl;
}

function readHost(url: string): string | undefined {
  try {
    return normalizeHost(apply(urlHostGetter, construct(NativeURL, [url]), []));
  } catch {
    return undefined; // The text is not a valid URL.
  }
}

/**
 * normalizeHost replaces "localhost" and "[::1]" with 127.0.0.1, because users treat the three names as the same host.
 */
function normalizeHost(host: unknown): string | undefined {
  if (typeof host !== 'string') return undefined;
  return replaceHostName(host, 'localhost') ?? replaceHostName(host, '[::1]') ?? host;
}

function replaceHostName(host: string, name: string): string | undefined {
  const port: string = apply(slice, host, [name.length]);
  const isNamed = apply(slice, host, [0, name.length]) === name && (port === '' || port[0] === ':');
  return isNamed ? `127.0.0.1${port}` : undefined;
}

function visitFields(object: unknown, visit: (key: string, value: unknown) => void): void {
  if (!isObject(object)) return;
  const keys = ownKeys(object);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === 'string') visit(key, lookup(object, key));
  }
}
