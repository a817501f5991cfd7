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

/** HostSettings stores the settings of one plugin in one document. */
export interface HostSettings {
  /**
   * configObject maps the key of each plugin setting to its value. The object is never replaced by another object,
   * because an adapter can keep a reference to it.
   */
  readonly configObject: object;
  update(settings: unknown): void;
}

export function makeSettings(): HostSettings {
  const configObject = makeBareObject();
  const updateSettings = (settings: unknown) => {
    const keys = ownKeys(configObject);
    for (let i = 0; i < keys.length; i++) deleteProperty(configObject, keys[i] ?? '');
    if (!isObject(settings)) return;
    visitFields(lookup(settings, 'values'), (key, value) => defineSetting(key, value));
    visitFields(lookup(settings, 'urls'), (key, instanceUrls) => {
      const url = findUrlForThisHost(instanceUrls);
      if (url !== undefined) defineSetting(key, url);
    });
  };
  const defineSetting = (key: string, value: unknown) => defineProperty(configObject, key, dataProperty(value));
  return { configObject, update: updateSettings };
}

/** findUrlForThisHost searches an object for the first URL with the same host as the current document. */
function findUrlForThisHost(instanceUrls: unknown): string | undefined {
  const currentHost = normalizeHost(apply(locationHostGetter, realLocation, []));
  let matchingUrl: string | undefined;
  visitFields(instanceUrls, (_, url) => {
    if (matchingUrl === undefined && typeof url === 'string' && readHost(url) === currentHost) matchingUrl = url;
  });
  return matchingUrl;
}

function readHost(url: string): string | undefined {
  try {
    return normalizeHost(apply(urlHostGetter, construct(NativeURL, [url]), []));
  } catch {
    return undefined; // the text is not a valid URL
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

function visitFields(settingsObject: unknown, visitField: (key: string, value: unknown) => void): void {
  if (!isObject(settingsObject)) return;
  const keys = ownKeys(settingsObject);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === 'string') visitField(key, lookup(settingsObject, key));
  }
}
