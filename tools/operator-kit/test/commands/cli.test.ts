import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readFile } from 'node:fs/promises'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import t from 'tap'
import { createReceiverApp } from '../../src/demo-receiver/create-receiver-app.ts'
import { createWalletApp } from '../../src/sandbox-wallet/create-wallet-app.ts'
import { openCli, spawnCli } from '../fixtures/run-cli.ts'
import { settledRound as round } from '../fixtures/settled-round.ts'

const runCli = openCli(t)

await t.test('pitboss verify answers by its exit code and in words', async (t) => {
  const dir = t.testdir({
    'round.json': JSON.stringify(round),
    'lie.json': JSON.stringify({ ...round, payout: '20.00' }),
    'x.json': '{',
  })
  const valid = await runCli(['verify', join(dir, 'round.json')])
  t.match(valid, { code: 0, out: /✓ server seed hash[\s\S]*The round is valid/ })
  const lie = await runCli(['verify', join(dir, 'lie.json')])
  t.match(lie, { code: 1, out: /✗ payout {2}expected 19\.80, found 20\.00[\s\S]*NOT valid/ })
  const event = JSON.stringify({ id: 'evt_1', type: 'round.completed', data: round })
  const piped = await spawnCli(['verify', '-', '--json'], event)
  t.equal(piped.code, 0)
  t.match(JSON.parse(piped.out), { valid: true })
  t.match(await runCli(['verify', join(dir, 'x.json')]), { code: 2, err: /x\.json/ })
  t.match(await runCli(['verify', join(dir, 'absent.json')]), { code: 2, err: /ENOENT/ })
})

await t.test('nothing of a file acts on the terminal', async (t) => {
  const forged = 'Evil\u001b[2K\u001b]52;c;Y3VybA==\u0007\u009b1m\u202egnp\u2028x'
  const acting = /[\p{Cc}\u2028\u202e]/u
  const told = { ...round, payout: forged, game: forged, round_id: forged }
  const dir = t.testdir({
    'round.json': JSON.stringify({ ...round, payout: forged }),
    'seed.json': JSON.stringify({ ...round, fairness: { ...round.fairness, server_seed: forged } }),
    'rounds.jsonl': [told, { ...round, payout: '20.00', round_id: forged }]
      .map((one) => `${JSON.stringify(one)}\n`)
      .join(''),
    'none.json': forged,
  })
  for (const [name = '', ...flags] of [
    ['a lie', 'verify', join(dir, 'round.json')],
    ['a seed', 'verify', join(dir, 'seed.json')],
    ['no JSON', 'verify', join(dir, 'none.json')],
    ['no file', 'verify', join(dir, forged)],
    ['returns', 'returns', '--events', join(dir, 'rounds.jsonl')],
  ])
    for (const json of [[], ['--json']]) {
      const { out, err } = await runCli([...flags, ...json])
      t.match(out + err, /Evil|rounds/, name)
      t.notMatch((out + err).replaceAll('\n', ''), acting, name)
    }
})

await t.test('wrong usage ends with 2, says why and prints nothing on stdout', async (t) => {
  for (const args of [
    [],
    ['nonsense'],
    ['verify'],
    ['verify', 'a.json', 'b.json'],
    ['certify-wallet', '--url', 'wallet', '--secret', 's'],
    ['certify-wallet', '--url', 'http://127.0.0.1:1', '--secret', 's', '--junit', '/nowhere/at/all.xml'],
    ['listen', '--secret', 's', '--port', '65536'],
    ['reconcile', '--api-url', 'http://127.0.0.1:1', '--key', 'k', '--from', '2026-11-20T00:00:00Z'],
  ]) {
    const { code, out, err } = await runCli(args)
    t.match({ code, out }, { code: 2, out: '' }, args.join(' '))
    t.match(err, /\S/)
  }
  t.match(await runCli(['--help']), { code: 0, out: /certify-wallet/ })
})

await t.test('pitboss certify-wallet writes a report, JSON and JUnit', async (t) => {
  const dataDir = t.testdir({})
  const app = await createWalletApp({ dataDir, secret: 'wallet-secret', startingBalance: '1000.00', seed: 1 })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const junit = join(dataDir, 'report.xml')
  const good = await runCli(['certify-wallet', '--url', url, '--secret', 'wallet-secret', '--junit', junit])
  t.match(good, {
    code: 0,
    out: /✓ The same debit sent twice is taken once[\s\S]*certified \(76 passed, 0 failed, 3 skipped\)/,
  })
  t.match(await readFile(junit, 'utf8'), /<testsuite name="pitboss certify-wallet".*failures="0"/)
  const bad = await runCli(['certify-wallet', '--url', url, '--secret', 'wrong', '--json'])
  t.equal(bad.code, 1)
  t.match(JSON.parse(bad.out), { certified: false })
  t.match(await runCli(['certify-wallet', '--url', 'ftp://x', '--secret', 's']), {
    code: 2,
    err: /http:\/\//,
  })
})

await t.test('pitboss listen verifies, forwards byte for byte and gives back the answer', async (t) => {
  const dataDir = t.testdir({ 'secrets.json': JSON.stringify({ secrets: ['whsec_l'] }) })
  const app = await createReceiverApp({ dataDir, secretsFile: join(dataDir, 'secrets.json') })
  t.teardown(() => app.close())
  const target = `${await app.listen({ host: '127.0.0.1', port: 0 })}/hook`
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
  const child = spawn(process.execPath, [
    cli,
    'listen',
    '--secret',
    'whsec_l',
    '--port',
    '0',
    '--forward-to',
    target,
    '--save',
    join(dataDir, 'kept'),
    '--json',
  ])
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const printed: string[] = []
  const nextLine = async (): Promise<Record<string, unknown>> => {
    printed.push(String((await lines.next()).value))
    return JSON.parse(printed.at(-1) ?? '')
  }
  const { url } = await nextLine()

  const body = '{"id": "evt_1",\n "type":"round.completed"}\n'
  const timestamp = signatureTimestamp(new Date())
  const headers = {
    'content-type': 'application/json',
    'x-svc-event-id': 'evt_1',
    'x-svc-event-type': 'round.completed',
    'x-svc-timestamp': timestamp,
    'x-svc-signature': `v1=${signBody('whsec_l', timestamp, body)}`,
    'x-svc-delivery-attempt': '1',
  }
  t.equal((await fetch(String(url), { method: 'POST', headers, body })).status, 200)
  t.match(await nextLine(), { event_id: 'evt_1', verified: true, forwarded_status: 200 })
  t.equal((await fetch(String(url), { method: 'POST', headers, body: '{}' })).status, 401)
  t.match(await nextLine(), { verified: false, reason: 'SIGNATURE_MISMATCH' })
  const colours = { ...headers, 'x-svc-event-type': '\u009b31m' }
  t.equal((await fetch(String(url), { method: 'POST', headers: colours, body: '{}' })).status, 401)
  await nextLine()
  t.notMatch(printed.join(''), /\p{Cc}/u, 'nothing that a stranger sends acts on the terminal')
  const received = JSON.parse(await (await fetch(new URL('/demo/received', target))).text())
  t.match(received, { total: 1, data: [{ raw_body: body, verified: true, path: '/hook' }] })
  const kept = (await readFile(join(dataDir, 'kept/events.jsonl'), 'utf8')).trim().split('\n')
  t.equal(kept.length, 1, 'what does not verify is not kept')
  t.match(JSON.parse(kept[0] ?? ''), { event_id: 'evt_1', verified: true, event: body })
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  t.equal(await closed, 0)
})
