// Wraps Chrome's functions for the history, bookmarks and notifications, each of which needs an optional
// permission.

/** HistoryEntry is a visited page in the browser history. */
export interface HistoryEntry {
  readonly url: string;
  readonly title: string;
  readonly lastVisitMs: number;
  readonly visitCount: number;
}

/** HistorySearch selects entries of the browser history. Times are in milliseconds since 1970. */
export interface HistorySearch {
  readonly text: string;
  readonly startTime: number;
  readonly endTime?: number;
  readonly maxResults: number;
}

export async function searchHistory(search: HistorySearch): Promise<HistoryEntry[]> {
  const items = await chrome.history.search(search);
  return items.flatMap(({ url, title = '', lastVisitTime = 0, visitCount = 0 }) =>
    url === undefined ? [] : [{ url, title, lastVisitMs: lastVisitTime, visitCount }],
  );
}

/** listVisits returns the times of the visits to an address, in milliseconds since 1970, oldest first. */
export async function listVisits(url: string): Promise<{ readonly atMs: number; readonly transition: string }[]> {
  const visits = await chrome.history.getVisits({ url });
  return visits.map(({ visitTime = 0, transition }) => ({ atMs: visitTime, transition }));
}

/** Bookmark is a bookmark or a bookmark folder. A folder has no url. */
export interface Bookmark {
  readonly id: string;
  readonly title: string;
  readonly url: string | undefined;
  readonly children: readonly Bookmark[];
}

function toBookmark({ id, title, url, children = [] }: chrome.bookmarks.BookmarkTreeNode): Bookmark {
  return { id, title, url, children: children.map(toBookmark) };
}

export async function searchBookmarks(query: string): Promise<Bookmark[]> {
  return (await chrome.bookmarks.search(query)).map(toBookmark);
}

/**
 * readBookmarks returns the bookmark tree below a folder, or the whole tree. The result is undefined if the folder
 * does not exist.
 */
export async function readBookmarks(folder: string | undefined): Promise<readonly Bookmark[] | undefined> {
  const tree = folder === undefined ? chrome.bookmarks.getTree() : chrome.bookmarks.getSubTree(folder);
  return (await tree.catch(() => undefined))?.map(toBookmark);
}

/** createBookmark creates a bookmark, or a bookmark folder if url is missing, and returns the new ID. */
export async function createBookmark(bookmark: {
  readonly title: string;
  readonly url?: string;
  readonly parentId?: string;
}): Promise<string> {
  return (await chrome.bookmarks.create(bookmark)).id;
}

/** NotificationText is the content of a desktop notification. */
export interface NotificationText {
  readonly title: string;
  readonly message: string;
  /** source is a text that is shown below the message. */
  readonly source: string;
}

/**
 * showNotification shows a desktop notification, and reports whether the user allows notifications of the
 * extension.
 */
export async function showNotification({ title, message, source }: NotificationText): Promise<boolean> {
  if ((await chrome.notifications.getPermissionLevel()) !== 'granted') return false;
  const iconUrl = chrome.runtime.getURL('icons/128.png');
  await chrome.notifications.create({ type: 'basic', title, message, contextMessage: source, iconUrl });
  return true;
}
