import { randomBytes } from 'node:crypto'
import { createAccessBucket } from '@pitboss/bus/access-bucket'
import { connectServiceBus } from '@pitboss/bus/connect-bus'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { serveService } from '@pitboss/bus/serve-service'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { createTimeScale } from '@pitboss/runtime/clock'
import { startPoll } from '@pitboss/runtime/poll'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { connectServiceStorage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { openKeyring } from '@pitboss/storage/open-keyring'
import type { AuthDeps } from './actions/deps.ts'
import { createKeyedHash } from './actions/keyed-hash.ts'
import { createPasswords } from './actions/passwords.ts'
import { createCarryOut } from './actions/carry-out.ts'
import { createPublishAccessChange } from './actions/publish-access-change.ts'
import { createProveAudit } from './actions/prove-audit.ts'
import { createSignAuditHeads } from './actions/sign-audit-heads.ts'
import { createTakeAudit } from './actions/take-audit.ts'
import { createTokenSigner } from './actions/token-signer.ts'
import { accountCalls } from './calls/account.ts'
import { approvalCalls } from './calls/approvals.ts'
import { credentialCalls } from './calls/credentials.ts'
import { operatorCalls } from './calls/operators.ts'
import { peopleCalls } from './calls/people.ts'
import { tokenCalls } from './calls/tokens.ts'
import type { AuthConfig } from './config.ts'
import { auditedCollections, authIndexes, authStores } from './storage/auth-stores.ts'
import { sealedPlaces } from './storage/sealed-places.ts'

const pollEveryMs = 1000
/** What is due sooner is tried then. */
const approvalsEveryMs = 5000
/** The ends of the chains are signed once an hour. */
const headsEveryMs = 15_000
/** The purposes of auth's MACs: cursors, and the hashes of secrets and tokens below. */
export const macPurposes: readonly string[] = ['cursor', 'keyed-hash/api-secret', 'keyed-hash/token']

/** Every call that auth answers. An answer waits until the audit entries of its call have moved. */
export function authCalls(deps: AuthDeps): CallHandler[] {
  const groups = [tokenCalls, peopleCalls, credentialCalls, accountCalls, approvalCalls, operatorCalls]
  const handlers = groups.flatMap((callsOf) => callsOf(deps))
  return handlers.map((handler) => ({ ...handler, run: deps.audit.following(handler.run) }))
}

/**
 * Opens the database and the bus, wires the auth service and starts it. `stop()` ends the calls first, then
 * the workers, then the connections.
 */
export async function startAuth({
  config,
  host,
}: {
  config: AuthConfig
  host: Pick<ServiceHost, 'logger' | 'registry' | 'check' | 'stopping' | 'fail'>
}): Promise<RunningService> {
  const { logger } = host
  const storage = await connectServiceStorage({ service: 'auth', config, host })
  const { clock } = storage
  await storage.patiently((db) => ensureIndexes(db, authIndexes, logger))
  const keyring = await openKeyring(storage.db, config.PITBOSS_MASTER_KEYS, macPurposes)
  const seals = createRewriteSeals({ db: storage.db, keyring, places: sealedPlaces, logger })
  await seals.reportMissing()
  const bus = await connectServiceBus({ service: 'auth', config, host })
  host.check('nats', () => bus.connected())

  const bucket = await createAccessBucket({ bus })
  const stores = authStores({ db: storage.db, cursors: createCursorCodec({ keyring }) })
  const box = createSecretBox(keyring, 'auth')
  const signer = createTokenSigner({ stores, box, clock, edgeTokens: config.PITBOSS_EDGE_TOKENS })
  const takeAudit = createTakeAudit({ stores, prove: createProveAudit({ stores, signer, logger }), clock })
  const audit = createAuditOutbox({
    db: storage.db,
    collections: auditedCollections,
    append: (entries) => takeAudit('auth', entries),
    ...{ clock, newId, logger },
  })
  const publishAccessChange = createPublishAccessChange({ bucket, stores, audit, logger })
  const deps: AuthDeps = {
    stores,
    bus,
    publishAccessChange,
    audit,
    takeAudit,
    passwords: await createPasswords(),
    signer,
    secretHash: createKeyedHash(keyring, 'api-secret'),
    tokenHash: createKeyedHash(keyring, 'token'),
    box,
    clock,
    newId,
    random: (size) => randomBytes(size),
    baseUrl: config.PITBOSS_BASE_URL,
    tokenTtlS: config.PITBOSS_TOKEN_TTL_S,
    approverAgeMs: createTimeScale(config.PITBOSS_TIME_SCALE).scaleMs(config.PITBOSS_APPROVER_AGE_S * 1000),
    caps: { keys: config.PITBOSS_LIMIT_ACCOUNT_KEYS, people: config.PITBOSS_LIMIT_ACCOUNT_PEOPLE },
    logger,
  }
  const handlers = authCalls(deps)
  const approved = createCarryOut(deps)
  // The first start makes the first signing key.
  await signer.keys()
  const poll = (worker: string, work: () => Promise<number | void>, everyMs = pollEveryMs) =>
    startPoll({
      event: 'worker.failed',
      level: 'warn',
      everyMs,
      work,
      logger: logger.child({ worker }),
    })
  const stopAudit = audit.start()
  const workers = [
    poll('heartbeat', () => bucket.heartbeat()),
    poll('access-news', () => publishAccessChange.sweepOwed()),
    poll('approvals', () => approved.sweep(), approvalsEveryMs),
    poll('audit-heads', createSignAuditHeads(deps), headsEveryMs),
  ]
  const calls = await serveService({
    ...{ bus, service: 'auth', config, host, clockAheadMs: storage.clockAheadMs },
    loadKeys: async () => (await signer.keys()).map((key) => key.publicJwk),
    handlers: [
      ...handlers,
      handler(opsRewriteSeals.auth, ({ order, after }) => seals.page({ after, isDry: order.dryRun })),
    ],
  })
  return {
    async stop() {
      await calls.stop()
      await Promise.all([stopAudit(), ...workers.map((worker) => worker.stop())])
      await bus.close()
      await storage.close()
    },
  }
}
