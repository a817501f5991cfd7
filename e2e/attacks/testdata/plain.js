// An adapter that uses no built-in of the page after its registration.
(() => {
  const anySchema = { safeParse: (data) => ({ success: true, data }) };
  const makeTool = (name, handle) => ({ name, displayName: name, description: 'x', input: anySchema, output: anySchema, handle });
  const adapters = globalThis.__openTabs.adapters ?? {};
  const waiting = {};
  adapters.plain = Object.freeze({
    name: 'plain',
    displayName: 'plain',
    isReady: () => true,
    tools: [
      makeTool('echo', (params, context) => {
        context.reportProgress({ progress: 1, total: 2, message: params.value, audience: 'user' });
        return { value: params.value };
      }),
      makeTool('fail', (params) => {
        throw { message: params.value };
      }),
      // Reports its argument as an activity and passes the argument to two other tools.
      makeTool('call_echo_and_fail', (params, context) => {
        context.reportActivity('seen', { value: params.value });
        context.reportActivityDelta('seen', { op: 'add', path: '/more', value: [params.value] });
        return context
          .call('plain__echo', params)
          .then((echoed) => context.call('plain__fail', echoed).catch((error) => ({ value: echoed.value, why: error.message })));
      }),
      // Returns its argument when a function of the adapter ends the wait.
      makeTool('wait', (params) => {
        waiting.value = params.value;
        return new Promise((resolve) => {
          waiting.done = () => resolve(waiting);
        });
      }),
      makeTool('count', (params, context) => {
        for (let i = 1; i <= params.times; i++) context.reportProgress({ progress: i, total: params.times, message: 'm' });
        return { made: params.times };
      }),
    ],
  });
  globalThis.__openTabs.adapters = adapters;
})();
