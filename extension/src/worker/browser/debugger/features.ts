import type { Fields } from '../../../record.ts';

/** networkParams are the parameters of Network.enable: the sizes of Chrome's buffers for bodies, in bytes. */
export const networkParams = {
  maxTotalBufferSize: 40 << 20,
  maxResourceBufferSize: 20 << 20,
  maxPostDataSize: 1 << 20,
};

/** noRequest is a pattern of Fetch.enable that matches no request. */
export const noRequest = { urlPattern: 'opentabs-no-request:*' };

/** Feature is a state of the debugger that lasts while a tool needs it. */
export type Feature =
  /** The page behaves as if it had the focus and were visible, so that input reaches a background tab. */
  | 'focus'
  /** Chrome draws the tab although its window does not display it. */
  | 'drawing'
  /** Chrome reports dialogs, which then wait for an answer. The feature stays until the debugger leaves the tab. */
  | 'dialogs'
  /** Chrome reports file choosers instead of showing them. */
  | 'files'
  /** Chrome reports drags of HTML5 instead of starting them. */
  | 'drags'
  /** Frames of other sites and workers of the page have sessions, through which commands reach them. */
  | 'children'
  /** Chrome reports the requests of the page. */
  | 'network'
  /** Chrome pauses the requests for which a client has rules. */
  | 'interception'
  /** The network of the page is slower than it is, or offline. */
  | 'conditions';

/** Command is a command of the DevTools protocol. */
export type Command = readonly [method: string, params: Fields];

/** realConditions is the command after which the network is as fast as it is. */
const realConditions: Command = [
  'Network.emulateNetworkConditions',
  { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 },
];

/** FeatureCommands apply a feature and take it away. Without off, the feature stays until the debugger leaves. */
export interface FeatureCommands {
  readonly on: Command;
  readonly off?: Command;
}

/**
 * featureCommands has the commands of each feature. The screencast makes Chrome draw a background tab; its pictures are
 * tiny and rare, and nothing reads them. Chrome pauses a new frame or worker until Debuggers lets it
 * run; a new worker of the extension takes the feature away, and what is paused continues.
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
  // Chrome continues paused requests when the domain Fetch is disabled.
  interception: { on: ['Fetch.enable', { patterns: [noRequest] }], off: ['Fetch.disable', {}] },
  conditions: { on: realConditions, off: realConditions },
};

/** emulationOff are the commands that end each part of an emulation. */
export const emulationOff: readonly Command[] = [
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
