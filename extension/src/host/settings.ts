import {
  apply,
  bare,
  construct,
  dataProperty,
  defineProperty,
  deleteProperty,
  hostOfLocation,
  hostOfUrl,
  isObject,
  lookup,
  NativeURL,
  ownKeys,
  realLocation,
  slice,
} from './primordials.ts';

/** Settings are the settings of one plugin in one document. */
export interface Settings {
  /** config contains the values by key. config is always the same object, because an adapter may store this object. */
  readonly config: object;
  /** update replaces all values of config by the values of a wire.PluginSettings. */
  update(settings: unknown): void;
}

/** makeSettings returns empty settings. */
export function makeSettings(): Settings {
  const config = bare();
  const update = (settings: unknown) => {
    const keys = ownKeys(config);
    for (let i = 0; i < keys.length; i++) deleteProperty(config, keys[i] ?? '');
    if (!isObject(settings)) return;
    visitFields(lookup(settings, 'values'), (key, value) => set(key, value));
    visitFields(lookup(settings, 'urls'), (key, instances) => {
      const url = urlOfHere(instances);
      if (url !== undefined) set(key, url);
    });
  };
  const set = (key: string, value: unknown) => defineProperty(config, key, dataProperty(value));
  return { config, update };
}

/** urlOfHere returns the URL with the host of this document, from an object of URLs by instance. */
function urlOfHere(instances: unknown): string | undefined {
  const currentHost = plainHost(apply(hostOfLocation, realLocation, []));
  let found: string | undefined;
  visitFields(instances, (_, url) => {
    if (found === undefined && typeof url === 'string' && hostOf(url) === currentHost) found = url;
  });
  return found;
}

function hostOf(url: string): string | undefined {
  try {
    return plainHost(apply(hostOfUrl, construct(NativeURL, [url]), []));
  } catch {
    return undefined; // the text is not a valid URL
  }
}

/** plainHost replaces "localhost" and "[::1]" by 127.0.0.1, because users treat the three names as the same host. */
function plainHost(host: unknown): string | undefined {
  if (typeof host !== 'string') return undefined;
  return afterName(host, 'localhost') ?? afterName(host, '[::1]') ?? host;
}

function afterName(host: string, name: string): string | undefined {
  const port: string = apply(slice, host, [name.length]);
  const named = apply(slice, host, [0, name.length]) === name && (port === '' || port[0] === ':');
  return named ? `127.0.0.1${port}` : undefined;
}

function visitFields(bag: unknown, visit: (key: string, value: unknown) => void): void {
  if (!isObject(bag)) return;
  const keys = ownKeys(bag);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === 'string') visit(key, lookup(bag, key));
  }
}
