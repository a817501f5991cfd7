// Wraps Chrome's functions for browser history, bookmarks and notifications, each of which requires a permission.

export interface HistoryEntry {
  readonly url: string;
  readonly title: string;
  readonly lastVisitMs: number;
  readonly visitCount: number;
}

/** The times of a history search are in milliseconds since 1970. */
export interface HistorySearch {
  readonly text: string;
  readonly startTime: number;
  readonly endTime?: number;
  readonly maxResults: number;
}

export async function searchHistory(historySearch: HistorySearch): Promise<HistoryEntry[]> {
  const historyItems = await chrome.history.search(historySearch);
  return historyItems.flatMap(({ url, title = '', lastVisitTime = 0, visitCount = 0 }) =>
    url === undefined ? [] : [{ url, title, lastVisitMs: lastVisitTime, visitCount }],
  );
}

/** listVisits returns the times of the visits to a URL, in milliseconds since 1970, oldest first. */
export async function listVisits(url: string): Promise<{ readonly atMs: number; readonly transition: string }[]> {
  const visits = await chrome.history.getVisits({ url });
  return visits.map(({ visitTime = 0, transition }) => ({ atMs: visitTime, transition }));
}

/** A bookmark folder is a Bookmark without a `url`. */
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

export async function readBookmarks(folder: string | undefined): Promise<readonly Bookmark[] | undefined> {
  const bookmarkTree = folder === undefined ? chrome.bookmarks.getTree() : chrome.bookmarks.getSubTree(folder);
  return (await bookmarkTree.catch(() => undefined))?.map(toBookmark);
}

/** Without a url, createBookmark creates a bookmark folder. */
export async function createBookmark(bookmarkFields: {
  readonly title: string;
  readonly url?: string;
  readonly parentId?: string;
}): Promise<string> {
  return (await chrome.bookmarks.create(bookmarkFields)).id;
}

export interface NotificationText {
  readonly title: string;
  readonly message: string;
  /** The field `source` is a text, such as the name of a client, that Chrome shows below the notification's message. */
  readonly source: string;
}

/** showNotification returns false if the user has turned off the extension's notifications. */
export async function showNotification({
  title,
  message: notificationText,
  source: iconSource,
}: NotificationText): Promise<boolean> {
  if ((await chrome.notifications.getPermissionLevel()) !== 'granted') return false;
  const iconUrl = chrome.runtime.getURL('icons/128.png');
  await chrome.notifications.create({
    type: 'basic',
    title,
    message: notificationText,
    contextMessage: iconSource,
    iconUrl,
  });
  return true;
}
