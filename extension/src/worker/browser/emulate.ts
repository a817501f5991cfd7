import { type Fields, isRecord } from '../../record.ts';
import { readChoice, readFlag, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult } from './browser-tool.ts';
import type { Debuggers } from './debugger/debuggers.ts';
import { EmulationIdleMs, type EmulationOverride, Emulations } from './debugger/emulation.ts';
import type { ToolGroup } from './sessions.ts';
import { makeCallFailure } from './tool-failure.ts';

export function makeEmulationTools(debuggers: Debuggers): ToolGroup {
  const emulations = new Emulations(debuggers);
  return { tools: [['browser_emulate', (call) => applyEmulation(emulations, call)]], parts: [emulations] };
}

async function applyEmulation(emulations: Emulations, { args, tabId, session }: BrowserCall): Promise<BrowserResult> {
  const emulationOverrides = readOverrides(args);
  if (readFlag(args, 'clear')) await emulations.clear(tabId);
  if (emulationOverrides.length > 0) await emulations.applyOverrides(tabId, session, emulationOverrides);
  const emulationTexts = emulations.describe(tabId);
  if (emulationTexts.length === 0) return { text: 'The tab emulates nothing.' };
  const limitNote = `It lasts until clear or the end of your session, and at most ${EmulationIdleMs / 60_000} min. Reload the page if it has read the old values.`;
  return { text: `The tab emulates: ${emulationTexts.join('; ')}. ${limitNote}` };
}

function readOverrides(args: Fields): EmulationOverride[] {
  return [
    ...readViewport(toRecord(args.viewport)),
    ...readTextOverride(args, 'userAgent', 'Emulation.setUserAgentOverride', 'userAgent', 'user agent'),
    ...readGeolocation(toRecord(args.geolocation)),
    ...readMediaOverrides(toRecord(args.media)),
    ...readTextOverride(args, 'visionDeficiency', 'Emulation.setEmulatedVisionDeficiency', 'type', 'vision deficiency'),
    ...readTextOverride(args, 'locale', 'Emulation.setLocaleOverride', 'locale', 'locale'),
    ...readTextOverride(args, 'timezone', 'Emulation.setTimezoneOverride', 'timezoneId', 'time zone'),
    ...readCpuThrottling(args),
  ];
}

function toRecord(value: unknown): Fields | undefined {
  return isRecord(value) ? value : undefined;
}

function readTextOverride(args: Fields, key: string, method: string, param: string, name: string): EmulationOverride[] {
  const value = readText(args, key);
  return value === undefined ? [] : [{ command: [method, { [param]: value }], text: `${name} ${value}` }];
}

function readViewport(viewportFields: Fields | undefined): EmulationOverride[] {
  if (!viewportFields) return [];
  const [width, height] = [readNumber(viewportFields, 'width'), readNumber(viewportFields, 'height')];
  if (!width || !height) throw makeCallFailure('invalid_arguments', 'the viewport needs width and height');
  const scaleFactor = readNumber(viewportFields, 'scale') ?? 0;
  const isMobile = readFlag(viewportFields, 'mobile');
  const params = {
    width: Math.round(width),
    height: Math.round(height),
    deviceScaleFactor: scaleFactor,
    mobile: isMobile,
  };
  const viewportDetails = `${scaleFactor > 0 ? `, scale ${scaleFactor}` : ''}${isMobile ? ', mobile with touch' : ''}`;
  return [
    {
      command: ['Emulation.setDeviceMetricsOverride', params],
      text: `viewport ${width} x ${height}${viewportDetails}`,
    },
    {
      command: ['Emulation.setTouchEmulationEnabled', { enabled: isMobile }],
      text: `touch ${isMobile ? 'on' : 'off'}`,
    },
  ];
}

function readGeolocation(geolocationFields: Fields | undefined): EmulationOverride[] {
  if (!geolocationFields) return [];
  const { latitude, longitude } = geolocationFields;
  if (typeof latitude !== 'number' || typeof longitude !== 'number')
    throw makeCallFailure('invalid_arguments', 'the geolocation needs latitude and longitude');
  const params = { latitude, longitude, accuracy: readNumber(geolocationFields, 'accuracy') ?? 10 };
  const locationScopeNote = 'for sites that may use the location';
  return [
    {
      command: ['Emulation.setGeolocationOverride', params],
      text: `place ${latitude}, ${longitude} ${locationScopeNote}`,
    },
  ];
}

const mediaFeatures = {
  colorScheme: ['prefers-color-scheme', ['light', 'dark']],
  reducedMotion: ['prefers-reduced-motion', ['reduce', 'no-preference']],
  contrast: ['prefers-contrast', ['more', 'less', 'no-preference']],
  forcedColors: ['forced-colors', ['active', 'none']],
} as const;

function readMediaOverrides(mediaFields: Fields | undefined): EmulationOverride[] {
  if (!mediaFields) return [];
  const type = readChoice(mediaFields, 'type', ['screen', 'print']) ?? '';
  const features = Object.entries(mediaFeatures).flatMap(([key, [name, values]]) => {
    const value = readChoice<string>(mediaFields, key, values);
    return value === undefined ? [] : [{ name, value }];
  });
  const mediaParts = [...(type === '' ? [] : [type]), ...features.map(({ name, value }) => `${name}: ${value}`)];
  return [
    { command: ['Emulation.setEmulatedMedia', { media: type, features }], text: `media ${mediaParts.join(', ')}` },
  ];
}

function readCpuThrottling(args: Fields): EmulationOverride[] {
  const slowdownRate = readNumber(args, 'cpuSlowdown');
  return slowdownRate === undefined
    ? []
    : [
        {
          command: ['Emulation.setCPUThrottlingRate', { rate: slowdownRate }],
          text: `processor ${slowdownRate} times slower`,
        },
      ];
}
