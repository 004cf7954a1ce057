import t from 'tap'
import { isNatsVersionEnough, parseNatsVersion, requireNatsVersion } from '../../src/nats/nats-version.ts'

await t.test('2.10 is the oldest that is taken', async (t) => {
  for (const version of ['2.10.0', '2.12.7', '2.15.1', '3.0.0', '2.11.0-RC.1'])
    t.ok(isNatsVersionEnough(version), version)
  for (const version of ['2.9.10', '1.4.1', '2.9.99']) t.notOk(isNatsVersionEnough(version), version)
  t.throws(
    () => requireNatsVersion('2.9.10', '/usr/bin/nats-server'),
    /\/usr\/bin\/nats-server is version 2.9.10, at least 2.10.0 is needed.*sync_interval/,
  )
})

await t.test('reads the version as the program says it', async (t) => {
  t.equal(parseNatsVersion('nats-server: v2.15.1\n'), '2.15.1')
  t.equal(parseNatsVersion('nats-server: v2.11.0-RC.1'), '2.11.0-RC.1')
  t.equal(parseNatsVersion('usage:'), null)
})
