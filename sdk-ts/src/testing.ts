// What tests of plugins import as `@opentabs/sdk/testing`. `test`, `expect` and `simulate` run under
// `opentabs plugin test`; `makeContext` runs anywhere.

export { type Expectation, expect } from './simulator/expect.ts';
export type { RouteAnswer, RouteRequest, Routes } from './simulator/http.ts';
export { test } from './simulator/runner.ts';
export {
  type CallOptions,
  type SimulatedCall,
  type SimulatedError,
  type SimulatedTab,
  type SimulateOptions,
  simulate,
} from './simulator/tab.ts';
export {
  type ContextScript,
  makeContext,
  type RecordedActivity,
  type RecordedCall,
  type TestContext,
} from './testing-context.ts';
