import type { Bed } from '../bench-fixture.ts';
import { Measured } from '../go.ts';
import { atMost, formatSummary, mb, ms, type Row } from '../row.ts';
import { inTurns } from '../samples.ts';

/** result is the time of a call whose result is large. */
export async function result(bed: Bed): Promise<Row[]> {
  const { stack, floorPage } = await bed.live();
  const run = (target: string, bytes: number) => async () => {
    await (target === 'ours' ? stack.page : floorPage).bringToFront();
    return bed.calls({ target, tool: 'messages__big', args: { bytes }, calls: 1 });
  };
  await run('floor-b', 10e6)();
  await run('ours', 10e6)();
  const seen = await inTurns(9, { floor: run('floor-b', 10e6), ours: run('ours', 10e6) });
  const [f, o] = [seen.get('floor'), seen.get('ours')];
  if (!f || !o) throw new Error('nothing was measured');
  const order = { do: 'calls', target: 'ours', tool: 'messages__big', calls: 1 };
  const huge = await bed.go.carryOut({ ...order, args: { bytes: 100e6 } }, Measured);
  const whole = huge.failed === 0 && huge.bytes >= 100e6;
  return [
    {
      id: 'result',
      what: 'result of 10 MB, p50',
      ours: formatSummary(o),
      floor: formatSummary(f),
      value: o.p50,
      bar: atMost(400, 'ms'),
    },
    {
      id: 'result',
      what: 'result of 100 MB',
      ours: `${ms(huge.allNs / 1e6)}, ${mb(huge.bytes)} at the client`,
      ...(whole ? {} : { broken: `100 MB did not arrive whole: ${huge.problem}` }),
    },
  ];
}
