import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runStack } from '@pitboss/testing/run-stack'
import { withEngines } from '@pitboss/testing/with-engines'
import { type Document, MongoClient } from 'mongodb'
import t from 'tap'

/*
 * Every index that the product makes, and what needs it: the function that reads by it, or the insert whose
 * rule it is. Each index is paid for by every write of its collection, so one without a reader has to go.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Removes documents by their age; nothing reads by it. */
const ages = 'ages'
const outboxes = 'libs/storage/src/outbox.ts readDue'
const audits = 'libs/storage/src/audit-outbox.ts sweepOne'
const auth = (place: string) => `services/auth/src/storage/${place}`
const rounds = (place: string) => `services/rounds/src/storage/${place}`
const bridge = (place: string) => `services/wallet-bridge/src/storage/${place}`
const webhooks = (place: string) => `services/webhooks/src/storage/${place}`

const needed: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  auth: {
    operators: { access_pending: auth('access-change.ts unpublished'), audit_outbox: audits },
    platform: { audit_outbox: audits },
    brands: {
      by_operator: auth('operators-store.ts page'),
      one_of_a_name: auth('operators-store.ts insert'),
      audit_outbox: audits,
    },
    approvals: {
      by_operator: auth('approvals-store.ts page'),
      one_open: auth('approvals-store.ts openOf'),
      due: auth('approvals-store.ts due'),
      four_hundred_days: ages,
      audit_outbox: audits,
    },
    views: {
      by_operator: auth('views-store.ts page'),
      one_of_a_name: auth('views-store.ts insert'),
      audit_outbox: audits,
    },
    credentials: {
      by_account: auth('credentials-store.ts page'),
      access_pending: auth('access-change.ts unpublished'),
      audit_outbox: audits,
    },
    users: {
      email_in_account: auth('people-store.ts insert'),
      by_email: auth('people-store.ts withEmail'),
      by_operator: auth('people-store.ts page'),
      invitation: auth('people-store.ts byInvitation'),
      access_pending: auth('access-change.ts unpublished'),
      audit_outbox: audits,
    },
    refresh_tokens: {
      family: auth('refresh-tokens-store.ts end'),
      user: auth('refresh-tokens-store.ts end'),
      expires_at: ages,
    },
    signing_keys: { one_current: auth('signing-keys-store.ts insertCurrent'), audit_outbox: audits },
    request_logs: {
      by_account: auth('logs-store.ts page'),
      by_credential: auth('logs-store.ts unlink'),
      by_request: auth('logs-store.ts page'),
      refused: auth('logs-store.ts refused'),
      by_method: auth('logs-store.ts page'),
      by_status: auth('logs-store.ts page'),
      by_path: auth('logs-store.ts page'),
      thirty_days: ages,
    },
    audits: {
      by_account: auth('audits-store.ts page'),
      by_actor: auth('audits-store.ts page'),
      by_object: auth('audits-store.ts page'),
      by_act: auth('audits-store.ts page'),
      by_kind: auth('audits-store.ts pageOfOperations'),
      four_hundred_days: ages,
    },
    idempotency_keys: {
      created_at: ages,
      object: 'libs/storage/src/idempotency-keys.ts forgetIdempotencyKeyOf',
    },
  },
  rounds: {
    rounds: {
      chain_nonce: rounds('rounds-store.ts last'),
      one_unfinished: rounds('rounds-store.ts findUnfinished'),
      chain_opened_under: rounds('rounds-store.ts insert'),
      scope_id: rounds('rounds-store.ts list'),
      scope_player_id: rounds('rounds-store.ts list'),
      scope_session_id: rounds('rounds-store.ts list'),
      scope_game_id: rounds('rounds-store.ts rareIndexOf'),
      scope_transactions: rounds('rounds-store.ts listByTransaction'),
      scope_completed: rounds('reports-store.ts readRaw'),
      scope_voided: rounds('rounds-store.ts rareIndexOf'),
      scope_failed: rounds('rounds-store.ts rareIndexOf'),
      scope_due: rounds('due-rounds.ts findDue'),
      facts_at: rounds('reports-store.ts applyFacts'),
      outbox_at: outboxes,
      forget_at: ages,
    },
    commitments: { chain_nonce: rounds('commitments-store.ts list') },
    sessions: {
      scope_id: rounds('sessions-store.ts list'),
      scope_player_id: rounds('sessions-store.ts list'),
      operator_expires: rounds('sessions-store.ts currenciesInUse'),
      scope_closed: rounds('sessions-store.ts list'),
      outbox_at: outboxes,
      audit_outbox: audits,
    },
    grants: {
      scope_id: rounds('grants-store.ts list'),
      scope_player_game: rounds('grants-store.ts open'),
      audit_outbox: audits,
    },
    paces: { started_at: ages },
    player_stops: {
      scope_player_id: rounds('stops-store.ts list'),
      one_in_force: rounds('stops-store.ts current'),
      due_at: rounds('stops-store.ts findDue'),
      unsigned: rounds('stops-store.ts findUnsigned'),
      audit_outbox: audits,
    },
    player_limits: { audit_outbox: audits },
    game_settings: { audit_outbox: audits },
    game_status: { audit_outbox: audits },
    audit_entries: { audit_outbox: audits },
    report_units: { scope_grain_unit: rounds('reports-store.ts read') },
    report_players: { scope_grain_unit: rounds('report-players.ts inUnits') },
    report_player_months: { scope_months: rounds('report-players.ts inMonths') },
    return_streams: {
      share_position: rounds('returns-fold.ts lastPosition'),
      scope_id: rounds('returns-store.ts list'),
      alarm_due_at: rounds('returns-store.ts findDue'),
    },
    return_alarms: { open_by_game: rounds('returns-store.ts holdsDown'), audit_outbox: audits },
    idempotency_keys: { created_at: ages },
    rewinds: { open: 'libs/storage/src/rewind-store.ts open', audit_outbox: audits },
    rewind_parts: { parts: 'libs/storage/src/rewind-store.ts progress', kept: ages },
  },
  wallet_bridge: {
    movements: {
      wallet_reference: bridge('movement-lists.ts newestFirst'),
      player: bridge('movement-lists.ts newestFirst'),
      round: bridge('movements.ts ofRound'),
      session: bridge('movement-lists.ts newestFirst'),
      calling_round: bridge('movements.ts findCalling'),
      due: bridge('due-movements.ts ofWallet'),
      pending: bridge('due-movements.ts figures'),
      rare_status: bridge('movement-lists.ts indexOf'),
      rare_type: bridge('movement-lists.ts indexOf'),
      attempted: bridge('movement-lists.ts calledSince'),
      look: bridge('looks.ts next'),
      outbox_at: outboxes,
      audit_outbox: audits,
    },
    callback_signatures: { used_at: ages },
    flags: {
      wallet_id: bridge('flag-store.ts list'),
      wallet_status_id: bridge('flag-store.ts list'),
      audit_outbox: audits,
    },
    flag_counts: { created_at: ages },
    certifications: {
      subject_id: 'libs/storage/src/job-store.ts list',
      one_running: 'libs/storage/src/job-store.ts claim',
      four_hundred_days: ages,
      audit_outbox: audits,
    },
    reconciliations: {
      subject_id: 'libs/storage/src/job-store.ts list',
      one_running: 'libs/storage/src/job-store.ts claim',
      four_hundred_days: ages,
      audit_outbox: audits,
    },
    ledger_chunks: { one_day: ages },
    figures: { hour: ages },
    wallets: { audit_outbox: audits },
  },
  webhooks: {
    events: {
      recording_order: webhooks('event-store.ts page'),
      type_order: webhooks('event-store.ts page'),
      created_high: webhooks('event-store.ts seqBefore'),
      round: webhooks('event-store.ts ofRoundIn'),
      fact: webhooks('event-store.ts toldOtherwise'),
    },
    endpoints: {
      owner: webhooks('endpoint-store.ts list'),
      due: webhooks('endpoint-store.ts due'),
      breaker_open: webhooks('endpoint-store.ts openBreakers'),
      audit_outbox: audits,
    },
    deliveries: {
      list: webhooks('delivery-store.ts list'),
      list_status: webhooks('delivery-store.ts health'),
      list_webhook: webhooks('delivery-store.ts list'),
      list_rare_type: webhooks('delivery-store.ts indexOf'),
      list_test: webhooks('delivery-store.ts indexOf'),
      event: webhooks('delivery-store.ts ofEvents'),
      lane_due: webhooks('delivery-queue.ts upcomingIn'),
      oldest: webhooks('delivery-queue.ts probe'),
      due: webhooks('delivery-queue.ts upcoming'),
      held: webhooks('delivery-moves.ts hasHeld'),
      claimed: webhooks('delivery-claims.ts recoverOrphans'),
      replay: webhooks('delivery-moves.ts countReplay'),
      attempted: webhooks('delivery-store.ts attemptedSince'),
      audit_outbox: audits,
    },
    replays: {
      list: webhooks('replay-store.ts list'),
      running: webhooks('replay-store.ts running'),
      uncounted: webhooks('replay-store.ts uncounted'),
      audit_outbox: audits,
    },
    certifications: {
      subject_id: 'libs/storage/src/job-store.ts list',
      one_running: 'libs/storage/src/job-store.ts claim',
      four_hundred_days: ages,
      audit_outbox: audits,
    },
    parked: { parked_at: webhooks('parked-store.ts list'), audit_outbox: audits },
    workers: { alive: webhooks('endpoint-store.ts aliveWorkers') },
    figures: { hour: ages },
    idempotency_keys: { created_at: ages },
    rewinds: { open: 'libs/storage/src/rewind-store.ts open', audit_outbox: audits },
    rewind_parts: { parts: 'libs/storage/src/rewind-store.ts progress', kept: ages },
  },
}

t.test('every index has a query that needs it', async (t) => {
  const engines = await withEngines(t, { fresh: true })
  const stack = await runStack(t, [], {
    MONGODB_URL: engines.mongodbUrl,
    NATS_URL: engines.natsUrl,
    PITBOSS_DATABASE_PREFIX: engines.databasePrefix,
  })
  await stack.stop()
  const client = await MongoClient.connect(engines.mongodbUrl)
  t.teardown(() => client.close())
  for (const [service, collections] of Object.entries(needed)) {
    const db = client.db(`${engines.databasePrefix}_${service}`)
    const made: Record<string, Record<string, Document>> = {}
    for (const { name } of await db.listCollections().toArray()) {
      const present = await db.collection(name).listIndexes().toArray()
      const own = present.filter((index) => index.name !== '_id_')
      if (own.length > 0) made[name] = Object.fromEntries(own.map((index) => [String(index.name), index]))
    }
    t.strictSame(namesIn(made), namesIn(collections), `${service}: made and needed`)
    for (const [collection, queries] of Object.entries(collections)) {
      for (const [name, place] of Object.entries(queries))
        t.equal(objection(place, made[collection]?.[name] ?? {}), null, `${service}: ${collection}.${name}`)
    }
  }
})

function namesIn(collections: Readonly<Record<string, object>>): Record<string, string[]> {
  const names = Object.entries(collections).map(([name, indexes]) => [name, Object.keys(indexes).toSorted()])
  return Object.fromEntries(names)
}

/** Why the place does not need the index, as far as its text tells; null when it may. */
function objection(place: string, { expireAfterSeconds, key }: Document): string | null {
  if (place === ages) return expireAfterSeconds === undefined ? 'it removes nothing' : null
  const [file = '', reader = ''] = place.split(' ')
  const text = readFileSync(`${root}${file}`, 'utf8')
  if (!new RegExp(`\\b${reader}\\b`).test(text)) return `${file} has no ${reader}`
  const [first = ''] = Object.keys(Object(key))
  return text.includes(first) ? null : `${file} does not name ${first}`
}
