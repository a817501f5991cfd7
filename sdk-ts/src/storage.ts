import { log } from './log.ts';
import { pristinely } from './runtime/pristine.ts';
import { messageOf } from './runtime/value.ts';

type Kind = 'localStorage' | 'sessionStorage';

/**
 * Does something with one of the page's storages. Some pages delete `localStorage` from their window: then that of an
 * invisible frame is used, which is the same one. Throws if there is no storage, as in a sandboxed frame.
 */
function withStorage<T>(kind: Kind, use: (storage: Storage) => T): T {
  const own: Storage | undefined = window[kind];
  if (own) return use(own);
  const frame = document.createElement('iframe');
  frame.style.display = 'none';
  document.documentElement.append(frame);
  try {
    // The storage of a frame that is gone can't be used any more.
    const other = frame.contentWindow?.[kind];
    if (!other) throw new Error(`this page has no ${kind}`);
    return use(other);
  } finally {
    frame.remove();
  }
}

function read(kind: Kind, key: string): string | null {
  try {
    return withStorage(kind, (storage) => storage.getItem(key));
  } catch {
    return null;
  }
}

function change(kind: Kind, what: string, use: (storage: Storage) => void): void {
  try {
    withStorage(kind, use);
  } catch (error) {
    log.warn(`${what} failed: ${messageOf(error)}`);
  }
}

/** Returns an item of the page's localStorage; null if there is none, or no storage. */
export function getLocalStorage(key: string): string | null {
  return read('localStorage', key);
}

/** Sets an item of the page's localStorage. If that fails, the storage may be full, it logs a warning. */
export function setLocalStorage(key: string, value: string): void {
  change('localStorage', `setLocalStorage(${key})`, (storage) => storage.setItem(key, value));
}

/** Removes an item of the page's localStorage. If that fails it logs a warning. */
export function removeLocalStorage(key: string): void {
  change('localStorage', `removeLocalStorage(${key})`, (storage) => storage.removeItem(key));
}

/** Returns an item of the tab's sessionStorage; null if there is none, or no storage. */
export function getSessionStorage(key: string): string | null {
  return read('sessionStorage', key);
}

/** Sets an item of the tab's sessionStorage. If that fails it logs a warning. */
export function setSessionStorage(key: string, value: string): void {
  change('sessionStorage', `setSessionStorage(${key})`, (storage) => storage.setItem(key, value));
}

/** Removes an item of the tab's sessionStorage. If that fails it logs a warning. */
export function removeSessionStorage(key: string): void {
  change('sessionStorage', `removeSessionStorage(${key})`, (storage) => storage.removeItem(key));
}

/** Returns the first item of the page's localStorage whose key `predicate` takes; null if there is none, or no storage. */
export function findLocalStorageEntry(predicate: (key: string) => boolean): { key: string; value: string } | null {
  let entries: { key: string; value: string }[] = [];
  try {
    entries = withStorage('localStorage', allOf);
  } catch {
    return null;
  }
  return entries.find(({ key }) => predicate(key)) ?? null;
}

function allOf(storage: Storage): { key: string; value: string }[] {
  const entries: { key: string; value: string }[] = [];
  for (let i = 0; i < storage.length; i++) {
    const key = storage.key(i);
    const value = key === null ? null : storage.getItem(key);
    if (key !== null && value !== null) entries.push({ key, value });
  }
  return entries;
}

/** Returns a cookie that the page's scripts can see, decoded if its value is URI-encoded; null if there is none. */
export function getCookie(name: string): string | null {
  const cookies = document.cookie;
  return pristinely(() => {
    const names = [`${name}=`, `${encodeURIComponent(name)}=`];
    for (const cookie of cookies.split(';')) {
      const text = cookie.trim();
      const found = names.find((start) => text.startsWith(start));
      if (found !== undefined) return decoded(text.slice(found.length));
    }
    return null;
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
