import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { listenLocally } from '@pitboss/testing/listen-locally'
import t from 'tap'
import { controlLine } from '../src/entries/control-line.ts'
import { shiftClock } from '../src/entries/shift-clock.ts'
import { startServiceLinks } from '../src/network/service-links.ts'

await t.test('a replica gets addresses that lead through its own proxies, and its clock', async (t) => {
  const engine = createServer((socket) => socket.end('the engine'))
  const enginePort = await listenLocally(engine)
  t.teardown(() => engine.close())
  const links = await startServiceLinks()
  t.teardown(() => links.close())
  const controls: Socket[] = []
  const ask = (probePort: number) => {
    const control = connect(Number(links.environment.PITBOSS_PROOF_CONTROL), '127.0.0.1')
    controls.push(control)
    const natsUrl = `nats://user:word@127.0.0.1:${enginePort}`
    control.write(`${JSON.stringify({ service: 'gateway', probePort, natsUrl })}\n`)
    const lines = createInterface(control)
    return async () => controlLine.parse(JSON.parse(String((await once(lines, 'line'))[0])))
  }
  const next = ask(4001)
  const first = await next()
  const { username, port } = new URL(first.natsUrl ?? '')
  t.equal(username, 'user')
  t.not(Number(port), enginePort)
  t.equal(first.mongodbUrl, undefined)
  t.equal(first.clockOffsetMs, 0)
  const [said] = await once(connect(Number(port), '127.0.0.1'), 'data')
  t.equal(String(said), 'the engine')

  const told = next()
  links.all()[0]?.setClock(-2500)
  t.equal((await told).clockOffsetMs, -2500)
  const restarted = await ask(4001)()
  t.equal(restarted.clockOffsetMs, -2500, 'the next process of the replica has the clock of the last')
  t.equal(restarted.natsUrl, first.natsUrl)
  for (const control of controls) control.resetAndDestroy()
  const other = await ask(4002)()
  t.not(other.natsUrl, first.natsUrl, 'killed processes leave the others their links')
  t.equal(other.clockOffsetMs, 0)
})

t.test('a shifted clock is off for whoever asks for the time, and for nothing else', (t) => {
  const machineDate = Date
  t.teardown(() => shiftClock(0))
  shiftClock(86_400_000)
  const least = machineDate.now()
  const times = [new Date().getTime(), Date.now(), Date.parse(Date())]
  const most = machineDate.now()
  for (const time of times) t.ok(time - 86_400_000 >= least - 999 && time - 86_400_000 <= most, String(time))
  t.equal(new Date(5).getTime(), 5)
  t.equal(new Date('2026-01-01T00:00:00Z').getTime(), Date.UTC(2026, 0, 1))
  t.ok(new Date(1) instanceof Date)
  t.ok(new machineDate(1) instanceof Date)
  class Later extends Date {}
  t.ok(new Later() instanceof Later)
  t.end()
})
