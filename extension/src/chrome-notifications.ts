// Wraps the functions of chrome.notifications, and the functions that open the side panel from a notification.

/**
 * NotificationContent contains the texts and the buttons of a desktop notification. Chrome shows at most two buttons in
 * a notification.
 */
export interface NotificationContent {
  readonly title: string;
  readonly message: string;
  /** context is a text that Chrome shows below the message of the notification. */
  readonly context: string;
  readonly buttons: readonly string[];
}

/** NotificationListeners are listeners for the user's actions in notifications of the extension. */
export interface NotificationListeners {
  onClick(id: string): void;
  onButtonClick(id: string, button: number): void;
  /**
   * onClose is called after the user, Chrome or the extension has closed a notification. `isByUser` is true if the user
   * closed the notification.
   */
  onClose(id: string, isByUser: boolean): void;
}

/** onNotifications listens for the user's actions in notifications of the extension. */
export function onNotifications({ onClick, onButtonClick, onClose }: NotificationListeners): void {
  chrome.notifications.onClicked.addListener(onClick);
  chrome.notifications.onButtonClicked.addListener(onButtonClick);
  chrome.notifications.onClosed.addListener(onClose);
}

/**
 * showNotification shows a notification that stays until the user or the extension closes it. A previous
 * notification with the same ID is replaced.
 */
export async function showNotification(id: string, content: NotificationContent): Promise<void> {
  const { title, message, context, buttons } = content;
  await chrome.notifications.create(id, {
    type: 'basic',
    iconUrl: chrome.runtime.getURL('icons/128.png'),
    title,
    message,
    contextMessage: context,
    buttons: buttons.map((text) => ({ title: text })),
    requireInteraction: true,
    priority: 2,
  });
}

/** closeNotification closes a notification if the notification is still open. */
export async function closeNotification(id: string): Promise<void> {
  await chrome.notifications.clear(id);
}

/** listNotifications returns the IDs of the open notifications of the extension. */
export async function listNotifications(): Promise<string[]> {
  return Object.keys(await chrome.notifications.getAll());
}

/**
 * PanelWidth and PanelHeight are the size, in pixels, of the window that opens if Chrome refuses to open the side
 * panel.
 */
const PanelWidth = 400;
const PanelHeight = 700;

/**
 * openPanelFromNotification opens the side panel in the most recently focused window. The side panel opens in a
 * separate window if Chrome does not count the notification click as a user gesture, or if no window is open.
 */
export async function openPanelFromNotification(): Promise<void> {
  try {
    const { id } = await chrome.windows.getLastFocused({ windowTypes: ['normal'] });
    if (id === undefined) throw new Error('no window is open');
    await chrome.sidePanel.open({ windowId: id });
    await chrome.windows.update(id, { focused: true });
  } catch {
    await chrome.windows.create({ url: 'panel.html', type: 'popup', width: PanelWidth, height: PanelHeight });
  }
}
