import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import t from 'tap'
import { findProgramOf, obstacleOf } from '../src/find-tool.ts'
import { rulesOf } from '../src/query-problems.ts'
import { renderOverlay } from '../src/render-folder.ts'
import { monitoringFolder } from '../src/telemetry/slo.ts'

const example = `${monitoringFolder}/alertmanager.example.yaml`
const skip = obstacleOf('amtool') ?? false

/** The receivers of each alert, in the order in which they are told. */
const receivers: Readonly<Record<string, string>> = {
  MovementUnresolved: 'money-on-call',
  MovementUnresolvedForADay: 'money-on-call',
  MovementsNotCounted: 'money-on-call',
  SettlementRefused: 'money-on-call',
  FirstTryDuplicate: 'money-on-call',
  ReceiptDiffers: 'money-on-call',
  CallWithoutGoodToken: 'security-on-call,on-call',
  ReturnsRuledOut: 'security-on-call,on-call',
  NoGateway: 'on-call',
  RequestsFail: 'on-call',
  RequestsFailSlowly: 'tickets',
  ReadsLate: 'on-call',
  ReadsLateSlowly: 'tickets',
  FirstAttemptsLate: 'on-call',
  FirstAttemptsLateSlowly: 'tickets',
  WalletsDoNotAnswer: 'on-call',
  EventsNotRecorded: 'on-call',
  ConsumerBehind: 'tickets',
  JournalBehind: 'on-call',
  StreamFills: 'on-call',
  PlayRefused: 'on-call',
  DeliveriesLate: 'on-call',
  PodDoesNotAnswer: 'tickets',
  EventLoopLate: 'tickets',
}

/** The receivers that Alertmanager's own tool names for an alert with these labels. */
async function told(file: string, labels: Readonly<Record<string, string>>): Promise<string> {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  const args = ['config', 'routes', 'test', `--config.file=${file}`, ...pairs]
  return (await runProgram(await findProgramOf('amtool'), args)).trim()
}

t.test('Alertmanager takes the example', { skip, timeout: 120_000 }, async (t) => {
  const said = await runProgram(await findProgramOf('amtool'), ['check-config', example])
  t.match(said, /SUCCESS/)
  t.match(said, /4 receivers/)
  t.match(said, /2 inhibit rules/)
})

t.test('each alert reaches whom it is for', { skip, timeout: 120_000 }, async (t) => {
  const alerts = rulesOf(await renderOverlay('production')).filter(({ alert }) => alert !== undefined)
  t.strictSame(new Set(alerts.map(({ alert }) => alert)), new Set(Object.keys(receivers)))
  for (const { alert = '', labels } of alerts)
    t.equal(
      await told(example, { alertname: alert, namespace: 'pitboss', ...labels }),
      receivers[alert],
      alert,
    )
})

t.test('a route that sends money to the morning is found', { skip, timeout: 120_000 }, async (t) => {
  const broken = join(t.testdir(), 'alertmanager.yaml')
  const text = readFileSync(example, 'utf8')
  writeFileSync(broken, text.replaceAll('severity="page"', 'severity="critical"'))
  const labels = { alertname: 'MovementUnresolved', severity: 'page', about: 'money' }
  t.not(await told(broken, labels), receivers.MovementUnresolved)
})
