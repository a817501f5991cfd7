import type { Fields } from '../../../record.ts';

/**
 * networkParams are the parameters of the debugger command Network.enable, which set the sizes of Chrome's buffers
 * for bodies in bytes.
 */
export const networkParams = {
  maxTotalBufferSize: 40 << 20,
  maxResourceBufferSize: 20 << 20,
  maxPostDataSize: 1 << 20,
};

/** noRequestPattern is a pattern for the debugger command Fetch.enable that matches no request. */
export const noRequestPattern = { urlPattern: 'opentabs-no-request:*' };

/** Feature is a state of the debugger that lasts while a tool needs it. */
export type Feature =
  /** The page behaves as if it had the focus and were visible, so that input reaches a background tab. */
  | 'focus'
  /** Chrome draws the tab although its window does not display it. */
  | 'drawing'
  /**
   * With the feature "dialogs", Chrome reports JavaScript dialogs, and each dialog stays open until it is answered.
   * The feature "dialogs" stays on until the debugger is detached from the tab.
   */
  | 'dialogs'
  /** With the feature "files", Chrome reports file choosers instead of showing them. */
  | 'files'
  /** Chrome reports drags of HTML5 instead of starting them. */
  | 'drags'
  /**
   * With the feature "children", cross-site frames and workers of the page have debugger sessions that accept
   * commands.
   */
  | 'children'
  /** With the feature "network", Chrome reports the requests of the page. */
  | 'network'
  /** With this feature, Chrome pauses the requests for which a client has set rules. */
  | 'interception'
  /** With this feature, Chrome slows down the network of the page, or takes the page offline. */
  | 'conditions';

/** Command is a command of the DevTools protocol. */
export type Command = readonly [method: string, params: Fields];

/** unthrottledCommand is the debugger command that ends network throttling. */
const unthrottledCommand: Command = [
  'Network.emulateNetworkConditions',
  { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 },
];

/**
 * FeatureCommands are the debugger commands that turn a feature on and off. A feature without the member off stays
 * on until the debugger is detached.
 */
export interface FeatureCommands {
  readonly on: Command;
  readonly off?: Command;
}

/**
 * featureCommands maps each debugger feature to its commands. The feature "drawing" makes Chrome draw a background
 * tab by a screencast, whose images are small, rare and unused. With the feature "children", Chrome pauses a new frame
 * or worker until Debuggers resumes it. After a restart, the service worker of the extension turns this feature
 * off, so that paused frames and workers continue.
 */
export const featureCommands: Readonly<Record<Feature, FeatureCommands>> = {
  focus: {
    on: ['Emulation.setFocusEmulationEnabled', { enabled: true }],
    off: ['Emulation.setFocusEmulationEnabled', { enabled: false }],
  },
  drawing: {
    on: ['Page.startScreencast', { format: 'jpeg', quality: 1, maxWidth: 16, maxHeight: 16, everyNthFrame: 10_000 }],
    off: ['Page.stopScreencast', {}],
  },
  dialogs: { on: ['Page.enable', {}] },
  files: {
    on: ['Page.setInterceptFileChooserDialog', { enabled: true }],
    off: ['Page.setInterceptFileChooserDialog', { enabled: false }],
  },
  drags: {
    on: ['Input.setInterceptDrags', { enabled: true }],
    off: ['Input.setInterceptDrags', { enabled: false }],
  },
  children: {
    on: ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }],
    off: ['Target.setAutoAttach', { autoAttach: false, waitForDebuggerOnStart: false, flatten: true }],
  },
  network: { on: ['Network.enable', networkParams], off: ['Network.disable', {}] },
  // Chrome continues paused requests when the debugger domain Fetch is disabled.
  interception: { on: ['Fetch.enable', { patterns: [noRequestPattern] }], off: ['Fetch.disable', {}] },
  conditions: { on: unthrottledCommand, off: unthrottledCommand },
};

/** endEmulationCommands contains the debugger commands that end each part of an emulation. */
export const endEmulationCommands: readonly Command[] = [
  ['Emulation.clearDeviceMetricsOverride', {}],
  ['Emulation.setTouchEmulationEnabled', { enabled: false }],
  ['Emulation.setUserAgentOverride', { userAgent: '' }],
  ['Emulation.clearGeolocationOverride', {}],
  ['Emulation.setEmulatedMedia', { media: '', features: [] }],
  ['Emulation.setEmulatedVisionDeficiency', { type: 'none' }],
  ['Emulation.setLocaleOverride', {}],
  ['Emulation.setTimezoneOverride', { timezoneId: '' }],
  ['Emulation.setCPUThrottlingRate', { rate: 1 }],
];
