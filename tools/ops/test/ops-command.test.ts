import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programOf } from '@pitboss/testing/program-of'
import { readOps, tryOps } from '@pitboss/testing/run-ops'
import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { sharedStack } from '@pitboss/testing/shared-stack'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { z } from 'zod'

const record = z.record(z.string(), z.unknown())
const records = z.array(record)
const unknownOperator = 'op_00000000000000000000000000000000'
const consumer = 'webhooks-fanout'

const side = { buffered: true }

t.test('the ops command on a running stack', { jobs: 2 }, async (t) => {
  const stack = await sharedStack(t)
  const demo = stack.demo()
  const run = (...flags: string[]) => tryOps(stack.dataDir, ...flags)
  /** A command that must be done. */
  const json = (...flags: string[]) => readOps(stack.dataDir, ...flags)
  const one = async (...flags: string[]) => record.parse(await json(...flags))
  const many = async (...flags: string[]) => records.parse(await json(...flags))

  await t.test('the program prints what its process is asked for, and ends with its code', async (t) => {
    const run = (...flags: string[]) =>
      spawnSync(process.execPath, [programOf('ops'), ...flags, '--data-dir', stack.dataDir], {
        encoding: 'utf8',
      })
    t.match(run('platform', 'show', '--json'), { status: 0, stdout: /^\{.*\}\n$/, stderr: '' })
    t.match(run('nothing', 'at-all'), { status: 2, stdout: '', stderr: /unknown command/ })
    t.match(run('operator', 'show', unknownOperator), { status: 1, stdout: '', stderr: /NOT_FOUND/ })
  })

  const usage = t.test('wrong usage ends with 2 and prints nothing on stdout', side, async (t) => {
    const wrong = [
      ['nothing', 'at-all'],
      ['operator', 'create', '--name', 'No address'],
      ['operator', 'set', demo.operator_id, '--live-play', 'maybe'],
      ['operator', 'set', demo.operator_id],
      ['consumer', 'rewind', consumer],
      ['movement', 'resolve', 'txn_x', '--as', 'success'],
      ['movement', 'diff', '-', '--operator', demo.operator_id],
      ['movement', 'resolve', 'txn_x', '--as', 'success', '--reason', ' '],
      ['keys', 'rotate', '--reason', 'x'.repeat(513)],
      ['consumer', 'rewind', consumer, '--from-time', '2026-02-30T00:00:00Z'],
      [
        ...['movement', 'diff', join(stack.dataDir, 'nowhere.csv'), '--operator', demo.operator_id],
        ...['--from', '2026-11-20', '--to', '2026-11-21'],
      ],
      ['round', 'reopened', '--operator', 'nobody'],
      ['rtp', 'list', '--operator', 'nobody'],
      ['round', 'reopened', '--operator', demo.operator_id, '--heal'],
      ['operator', 'list', '--data-dir', join(stack.dataDir, 'nowhere')],
    ]
    for (const flags of wrong) {
      const { code, stdout, stderr } = await run(...flags, '--json')
      t.equal(code, 2, flags.join(' '))
      t.equal(stdout, '', flags.join(' '))
      t.not(stderr, '', `${flags.join(' ')} says why`)
    }
  })

  const refusal = t.test('a refusal ends with 1 and the error envelope on stderr', side, async (t) => {
    const refused = [
      ['operator', 'show', unknownOperator],
      ['consumer', 'show', 'nobody'],
      ['round', 'show', 'rnd_00000000000000000000000000'],
      ['round', 'why', 'rnd_00000000000000000000000000'],
      ['movement', 'why', 'txn_00000000000000000000000000'],
      ['rtp', 'lift', 'ral_00000000000000000000000000'],
    ]
    for (const flags of refused) {
      const { code, stdout, stderr } = await run(...flags, '--json')
      t.equal(code, 1, flags.join(' '))
      t.equal(stdout, '')
      t.match(JSON.parse(stderr), {
        code: /NOT_FOUND$/,
        message: String,
        retryable: false,
        request_id: /^req_[0-9a-hjkmnp-tv-z]{26}$/,
      })
    }
  })

  const returns = t.test('returns under watch are listed, drawn and exported', side, async (t) => {
    const operator = await createOperatorClient(demo)
    const player = await operator.openSession({ player_id: 'watched', game: 'dice', currency: 'USD' })
    const bet = { target: '49.50', direction: 'under' }
    for (let round = 0; round < 25; round++)
      t.match(await player.call('POST', '/game/rounds', { stake: '1.00', bet }), { status: 201 })
    const where = ['--environment', 'SANDBOX']
    const even = async () => {
      const streams = await many('rtp', 'list', ...where)
      return streams.find(({ shape, trials }) => shape === 'chance 99/200' && Number(trials) >= 25) ?? null
    }
    const all = await waitFor(even, { what: 'the watch to have the rounds' })
    t.match(all, { operator_id: null, currency: null, game: 'dice', expected: '0.990000' })
    const [own] = await many('rtp', 'list', ...where, '--operator', demo.operator_id)
    t.match(own, { operator_id: demo.operator_id, currency: 'USD' })
    const svg = join(stack.dataDir, 'returns.svg')
    const shown = await run('rtp', 'show', 'dice', ...where, '--svg', svg)
    t.match(shown.stdout, /chance 99\/200: 2[5-9] trials.*would notice a 1-point error within [0-9]+ trials/)
    t.match(readFileSync(svg, 'utf8'), /<svg[^]*dice, chance 99\/200/)
    const [columns = '', ...rows] = (await run('rtp', 'export', ...where, '--format', 'csv')).stdout.split(
      '\n',
    )
    t.ok(columns.split(',').includes('operator_id'), columns)
    t.ok(rows.some((row) => row.split(',').includes('chance 99/200')))
    t.match(await run('rtp', 'alarms'), { code: 0, stdout: 'nothing\n' })
  })

  const nobody = t.test('a stack that does not run is said to be so at once', side, async (t) => {
    const folder = t.testdir({ 'connection.json': JSON.stringify({ nats_url: 'nats://127.0.0.1:1' }) })
    const { code, stdout, stderr } = await run('status', '--json', '--data-dir', folder)
    t.match({ code, stdout }, { code: 1, stdout: '' })
    t.match(JSON.parse(stderr), { code: 'SERVICE_UNAVAILABLE', retryable: true })
    const torn = t.testdir({ 'connection.json': '{' })
    t.match(await run('status', '--json', '--data-dir', torn), { code: 2, stdout: '' })
  })

  const operators = t.test('operators are made, shown and switched', side, async (t) => {
    const name = 'Second Casino'
    const made = await one('operator', 'create', '--name', name, '--email', 'boss@second.example')
    const id = String(made.operator_id)
    const login = await send('POST', `${demo.base_url}/v1/dashboard/login`, { body: made.dashboard })
    t.equal(login.status, 200, 'the printed login works')
    const listed = (await many('operator', 'list')).map(({ operator_id }) => String(operator_id))
    for (const one of [id, demo.operator_id]) t.ok(listed.includes(one), one)
    t.match(await one('operator', 'show', id), { name, plan: 'free', approved: false, suspended: false })

    const dry = ['operator', 'set', id, '--plan', 'paid', '--dry-run']
    await one(...dry)
    t.match(await one('operator', 'show', id), { plan: 'free' }, 'a dry run changes nothing')
    const set = ['--plan', 'paid', '--approved', 'yes', '--live-play', 'on', '--reason', 'signed']
    t.match(await one('operator', 'set', id, ...set), {
      plan: 'paid',
      approved: true,
      live_status: 'APPROVED',
    })
    t.match(await one('operator', 'set', id, '--suspended', 'yes'), { suspended: true })
  })

  const consumers = t.test('consumers, and a round from end to end', side, async (t) => {
    const operator = await createOperatorClient(demo)
    const player = await operator.openSession({ player_id: 'exported', game: 'dice', currency: 'USD' })
    const bet = { target: '50.00', direction: 'over' }
    const played = await player.call('POST', '/game/rounds', { stake: '1.00', bet })
    t.equal(played.status, 201, JSON.stringify(played.body))

    t.match(
      (await many('consumer', 'list')).find(({ name }) => name === consumer),
      { name: consumer, stream: String, pending: Number, redelivered: Number, lag_s: Number, paused: false },
    )
    t.match(await one('consumer', 'pause', consumer, '--dry-run'), { paused: true })
    t.match(await one('consumer', 'show', consumer), { paused: false }, 'a dry run pauses nothing')
    t.match(await one('consumer', 'pause', consumer), { paused: true })
    t.match(await one('consumer', 'show', consumer), { paused: true })
    const rewind = ['consumer', 'rewind', consumer, '--from-seq', '1', '--yes']
    const paused = await run(...rewind, '--json')
    t.match(paused, { code: 1, stdout: '' })
    t.match(JSON.parse(paused.stderr), {
      code: 'CONFLICT',
      message: `${consumer} is paused; resume it first: consumer resume ${consumer}`,
    })
    t.match(await one(...rewind, '--dry-run'), { seen: 0, would_see: Number }, 'a dry run may look')
    t.match(await one('consumer', 'resume', consumer), { paused: false })

    const shown = await waitFor(
      async () => {
        const now = await one('consumer', 'show', consumer)
        return now.pending === 0 && now.ack_pending === 0 ? now : null
      },
      { timeoutMs: 60_000, what: 'the consumer to have caught up', everyMs: 100 },
    )
    t.match(await one(...rewind, '--dry-run'), { seen: 0, would_see: Number })
    t.strictSame(
      (await one('consumer', 'show', consumer)).config,
      shown.config,
      'a dry run leaves the consumer as it is',
    )
    const rewound = await one(...rewind)
    t.match(rewound, { consumer, repaired: 0, parked: 0 }, 'all of it was right already')
    t.equal(rewound.seen, rewound.unchanged)
    t.not(rewound.seen, 0)
    const movementsRewind = ['consumer', 'rewind', 'rounds-movements', '--from-seq', '1', '--yes']
    t.match(await one(...movementsRewind, '--dry-run'), { seen: 0, would_see: Number })
    const heard = await one(...movementsRewind)
    t.strictSame(
      heard,
      {
        consumer: 'rounds-movements',
        // Another file may have emptied the stream that they share.
        from: rewound.from,
        seen: heard.seen,
        repaired: 0,
        unchanged: heard.seen,
        parked: 0,
      },
      'rounds counts as webhooks does',
    )
    t.ok(Number(heard.seen) > 0 && Number(heard.seen) < Number(rewound.seen), 'what its filter lets through')

    const [movements, owed, deliveries, parked, dossier] = await Promise.all([
      many('movement', 'list', '--limit', '10'),
      many('movement', 'list', '--status', 'PENDING', '--older-than', '5m'),
      many('delivery', 'list'),
      many('parked', 'list'),
      one('round', 'show', String(played.body.round_id)),
    ])
    t.match(movements[0], { reference: /^txn_/, status: String, operator_id: demo.operator_id })
    t.match(deliveries[0], {
      delivery_id: String,
      webhook_id: demo.receiver.webhook_id,
      operator_id: demo.operator_id,
    })
    t.strictSame([owed, parked], [[], []])
    const { code, stdout } = await run('doctor', '--json')
    const doctor = z.object({ findings: z.array(z.object({ check: z.string(), level: z.string() })) })
    const bad = doctor.parse(JSON.parse(stdout)).findings.filter(({ level }) => level === 'bad')
    t.strictSame([code, bad], [0, []], 'one machine of one replica each is warned of, and nothing is bad')
    const [movement, delivery] = await Promise.all([
      one('movement', 'show', String(movements[0]?.reference)),
      one('delivery', 'why', String(deliveries[0]?.delivery_id)),
    ])
    t.match(movement, { movement: {}, attempts: Array })
    const over = { text: /^(Settled|Over)/, at: null }
    t.match(await one('movement', 'why', String(movements[0]?.reference)), { waiting_for: [over] })
    const { round_id: roundId } = z.looseObject({ round: record }).parse(dossier).round
    t.match(await one('round', 'why', String(roundId)), {
      round: { round_id: roundId },
      waiting_for: [over],
    })
    t.match(delivery, { attempts: Array })
    t.match(dossier, { operator_id: demo.operator_id, round: { stake: '1.00' }, movements: Array })
    const { transaction_id } = z
      .looseObject({ movement: record })
      .parse(z.array(z.unknown()).parse(dossier.movements)[0]).movement
    t.match(records.parse(dossier.attempts)[0], { transaction_id, classification: String })
    const events = z.array(z.looseObject({ event: record, deliveries: records })).parse(dossier.events)
    t.strictSame(
      dossier.deliveries,
      events.flatMap(({ deliveries }) => deliveries),
    )
    t.match(records.parse(dossier.deliveries)[0], { event_id: events[0]?.event.id, status: String })
    const ledger = join(stack.dataDir, 'ledger.csv')
    const { round } = z.looseObject({ round: record }).parse(dossier)
    const own = z
      .array(z.looseObject({ movement: record }))
      .parse(dossier.movements)
      .map(({ movement }) => movement)
    const rows = own.map((row) => [row.transaction_id, row.type, row.amount, row.currency].join(','))
    writeFileSync(
      ledger,
      ['transaction_id,type,amount,currency', ...rows, 'foreign-1,WIN,5.00,USD'].join('\n'),
    )
    const window = ['--from', String(round.created_at), '--to', new Date().toISOString()]
    const account = ['--operator', demo.operator_id, '--environment', 'TEST']
    const { differences, summary } = z
      .strictObject({ differences: records, summary: record })
      .parse(await json('movement', 'diff', ledger, ...account, ...window))
    t.match(
      differences.filter(({ kind }) => kind !== 'missing'),
      [{ kind: 'extra', transaction_id: 'foreign-1' }],
      'missing are the movements of rounds that are played meanwhile',
    )
    t.match(summary, { lines: own.length + 1, matched: own.length })
    const whole = join(stack.dataDir, 'exported.jsonl')
    const ofExported = ['exported', '--operator', demo.operator_id, '--environment', 'TEST']
    t.match(await run('player', 'export', ...ofExported, '--out', whole), { code: 2 }, 'not without a reason')
    const asked = ['--reason', 'the player asked', '--by', 'Ada']
    t.match(await one('player', 'export', ...ofExported, '--out', whole, ...asked), {
      counts: { session: 1, round: 1, event: events.length },
    })
    const lines = readFileSync(whole, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => record.parse(JSON.parse(line)))
    t.match(lines[0], { kind: 'export', player_id: 'exported', operator_id: demo.operator_id })
    t.strictSame(lines.find(({ kind }) => kind === 'round')?.record, round)
    t.strictSame(
      lines.filter(({ kind }) => kind === 'transaction').length,
      own.length,
      'with each movement and its wallet calls',
    )
    t.match(
      await run('player', 'export', ...ofExported, '--out', whole, ...asked),
      { code: 2, stderr: /is there already/ },
      'never over a file',
    )
    t.match(await run('player', 'erase', ...ofExported), { code: 2 }, 'not without a reason')
    for (const ofWhom of [[demo.operator_id], []])
      t.match(await one('audit', 'verify', ...ofWhom), { faults: [] }, 'the audit log is whole')
    t.strictSame(await one('player', 'erase', ...ofExported, '--dry-run'), { erased: 0, kept: 0 })

    const timeline = z.array(z.looseObject({ at: z.string(), what: z.string() })).parse(dossier.timeline)
    t.strictSame(
      timeline.map(({ at }) => at),
      timeline.map(({ at }) => at).toSorted(),
      'one time line, in order',
    )
  })

  await Promise.all([usage, refusal, returns, nobody, operators, consumers])

  // A key that is retired ends the tokens of all that runs.
  await t.test('platform, game and key switches', async (t) => {
    t.match(await one('platform', 'set', '--real-money', 'off'), { real_money: false })
    t.match(await one('platform', 'show'), { real_money: false })
    t.match(await one('platform', 'set', '--real-money', 'on'), { real_money: true })
    t.match(await one('game', 'set', 'mines', '--status', 'DOWN'), { slug: 'mines', status: 'DOWN' })
    t.match(await one('game', 'set', 'mines', '--status', 'AVAILABLE'), { status: 'AVAILABLE' })
    const limits = ['game', 'limits', 'mines', '--operator', demo.operator_id, '--currency', 'EUR']
    const agreed = ['--reason', 'agreed']
    t.match(await one(...limits, '--max-stake', '5000', ...agreed), {
      limits: [{ currency: 'EUR', min_stake: '0.10', max_stake: '5000.00', max_payout: '100000.00' }],
    })
    t.match(await one(...limits, '--platform', ...agreed), { limits: [{ max_stake: '1000.00' }] })

    const operator = await createOperatorClient(demo)
    const before = await many('keys', 'list')
    const after = await many('keys', 'rotate')
    t.equal(after.length, before.length + 1)
    t.equal(after.filter(({ status }) => status === 'CURRENT').length, 1)
    t.equal((await operator.call('GET', '/games')).status, 200, 'a token of the old key still verifies')
    const minted = await createOperatorClient(demo)
    t.equal((await minted.call('GET', '/games')).status, 200, 'a token of the new key verifies')

    const leaked = String(after.find(({ status }) => status === 'VERIFYING')?.kid)
    t.match(await run('keys', 'retire', leaked), { code: 2, stdout: '' }, 'only with --now')
    const left = await many('keys', 'retire', leaked, '--now', '--reason', 'leaked')
    t.equal(left.length, after.length - 1)
    await waitFor(async () => (await operator.call('GET', '/games')).status === 401, { timeoutMs: 2000 })
    t.equal((await minted.call('GET', '/games')).status, 200, 'a token of another key goes on')
  })

  await t.test('status shows the services; the audit log shows what was done and why', async (t) => {
    const status = await one('status')
    const services = records.parse(status.services).map(({ name }) => String(name))
    for (const name of ['auth', 'gateway', 'rounds', 'wallet-bridge', 'webhooks'])
      t.ok(services.includes(name), name)
    t.match(status, { movements: { pending: Number }, deliveries: { parked: 0 }, rounds: {}, problems: [] })
    t.match(status.engines, { mongodb: { version: String, ping_ms: Number }, nats: { version: String } })

    const audit = await many('audit', 'list')
    const done = new Set(audit.map(({ what }) => String(what)))
    const exported = audit.find(({ what }) => what === 'player.export')
    t.match(exported, { by: 'Ada', target: 'exported', reason: 'the player asked' })
    for (const what of ['consumer.pause', 'consumer.resume', 'consumer.rewind', 'game.set'])
      t.ok(done.has(what), what)
    t.ok(audit.some(({ reason }) => reason === 'signed'))
    t.equal(audit.filter(({ what }) => what === 'consumer.rewind').length, 2, 'dry runs left no record')
  })
})
