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

/** Settings are those of one plugin in one document. */
export interface Settings {
  /** config is what the adapter sees: a value by key. It stays the same object, for an adapter that has kept it. */
  readonly config: object;
  /** become takes a wire.PluginSettings in place of what was set before. */
  become(settings: unknown): void;
}

/** makeSettings returns settings of which none is set. */
export function makeSettings(): Settings {
  const config = bare();
  const become = (settings: unknown) => {
    const keys = ownKeys(config);
    for (let i = 0; i < keys.length; i++) deleteProperty(config, keys[i] ?? '');
    if (!isObject(settings)) return;
    each(lookup(settings, 'values'), (key, value) => set(key, value));
    each(lookup(settings, 'urls'), (key, instances) => {
      const url = urlOfHere(instances);
      if (url !== undefined) set(key, url);
    });
  };
  const set = (key: string, value: unknown) => defineProperty(config, key, dataProperty(value));
  return { config, become };
}

/** urlOfHere returns the URL whose host this document has, of an object of URLs by instance. */
function urlOfHere(instances: unknown): string | undefined {
  const here = plainHost(apply(hostOfLocation, realLocation, []));
  let found: string | undefined;
  each(instances, (_, url) => {
    if (found === undefined && typeof url === 'string' && hostOf(url) === here) found = url;
  });
  return found;
}

function hostOf(url: string): string | undefined {
  try {
    return plainHost(apply(hostOfUrl, construct(NativeURL, [url]), []));
  } catch {
    return undefined; // no URL, so it is nowhere
  }
}

/** plainHost writes the three names of this machine as one; they are the same place for a person. */
function plainHost(host: unknown): string | undefined {
  if (typeof host !== 'string') return undefined;
  return afterName(host, 'localhost') ?? afterName(host, '[::1]') ?? host;
}

function afterName(host: string, name: string): string | undefined {
  const port: string = apply(slice, host, [name.length]);
  const named = apply(slice, host, [0, name.length]) === name && (port === '' || port[0] === ':');
  return named ? `127.0.0.1${port}` : undefined;
}

function each(bag: unknown, take: (key: string, value: unknown) => void): void {
  if (!isObject(bag)) return;
  const keys = ownKeys(bag);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === 'string') take(key, lookup(bag, key));
  }
}
