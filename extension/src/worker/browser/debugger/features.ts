import type { Fields } from '../../../record.ts';

/** networkEnableParams contains the sizes of Chrome's buffers for request and response bodies, in bytes. */
export const networkEnableParams = {
  maxTotalBufferSize: 40 << 20,
  maxResourceBufferSize: 20 << 20,
  maxPostDataSize: 1 << 20,
};

/** noRequestPattern is a URL pattern that matches no request, for the debugger command Fetch.enable. */
export const noRequestPattern = { urlPattern: 'opentabs-no-request:*' };

/** DebuggerFeature is a mode of the debugger that stays on while at least one tool needs the mode. */
export type DebuggerFeature =
  /**
   * The feature "focus" makes a background page behave as if the page were focused and visible, so that the page
   * handles input.
   */
  | 'focus'
  /** The feature "drawing" makes Chrome draw a tab that is in the background. */
  | 'drawing'
  /**
   * With the feature "dialogs", Chrome reports JavaScript dialogs, and each dialog stays open until it is answered. The
   * feature "dialogs" stays on until the debugger is detached.
   */
  | 'dialogs'
  /** With the feature "files", Chrome reports file choosers and does not show the choosers to the user. */
  | 'files'
  /** With the feature "drags", Chrome reports HTML drags instead of starting the drag. */
  | 'drags'
  /** With the feature "children", the debugger is also attached to cross-site frames and workers of the page. */
  | 'children'
  | 'network'
  /** With the feature "interception", Chrome pauses requests for which an agent has set rules. */
  | 'interception'
  | 'conditions';

/** DebuggerCommand is a command of the Chrome DevTools Protocol. */
export type DebuggerCommand = readonly [method: string, params: Fields];

const unthrottledCommand: DebuggerCommand = [
  'Network.emulateNetworkConditions',
  { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 },
];

/** If a feature has no off command, the feature stays on until the debugger is detached. */
export interface FeatureCommands {
  readonly on: DebuggerCommand;
  readonly off?: DebuggerCommand;
}

/**
 * The feature "drawing" starts a screencast with unused images, because Chrome draws a background tab only during a
 * screencast. With the feature "children", Chrome pauses each new frame or worker until Debuggers resumes the target.
 * After a restart, the service worker turns the feature "children" off, so that paused frames and workers continue.
 */
export const featureCommands: Readonly<Record<DebuggerFeature, FeatureCommands>> = {
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
  network: { on: ['Network.enable', networkEnableParams], off: ['Network.disable', {}] },
  // When the debugger domain Fetch is disabled, Chrome resumes all paused requests.
  interception: { on: ['Fetch.enable', { patterns: [noRequestPattern] }], off: ['Fetch.disable', {}] },
  conditions: { on: unthrottledCommand, off: unthrottledCommand },
};

export const endEmulationCommands: readonly DebuggerCommand[] = [
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
