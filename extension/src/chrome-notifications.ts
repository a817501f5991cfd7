// Wraps the functions of chrome.notifications, and the functions that open the side panel from a notification.

/** Chrome shows at most two buttons in a notification. */
export interface NotificationContent {
  readonly title: string;
  readonly message: string;
  readonly context: string;
  readonly buttonTitles: readonly string[];
}

export interface NotificationListeners {
  onClick(id: string): void;
  onButtonClick(id: string, button: number): void;
  onClose(id: string, isClosedByUser: boolean): void;
}

export function listenToNotifications({ onClick, onButtonClick, onClose }: NotificationListeners): void {
  chrome.notifications.onClicked.addListener(onClick);
  chrome.notifications.onButtonClicked.addListener(onButtonClick);
  chrome.notifications.onClosed.addListener(onClose);
}

export async function showNotification(id: string, content: NotificationContent): Promise<void> {
  const { title, message: notificationMessage, context, buttonTitles } = content;
  await chrome.notifications.create(id, {
    type: 'basic',
    iconUrl: chrome.runtime.getURL('icons/128.png'),
    title,
    message: notificationMessage,
    contextMessage: context,
    buttons: buttonTitles.map((buttonTitle) => ({ title: buttonTitle })),
    requireInteraction: true,
    priority: 2,
  });
}

export async function closeNotification(id: string): Promise<void> {
  await chrome.notifications.clear(id);
}

export async function listNotifications(): Promise<string[]> {
  return Object.keys(await chrome.notifications.getAll());
}

const PanelWidth = 400;
const PanelHeight = 700;

/** If Chrome does not count the notification click as a user gesture, the side panel opens in a separate window. */
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
