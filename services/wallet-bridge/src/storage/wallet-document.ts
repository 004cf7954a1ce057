import type { Scope } from '@pitboss/contracts/caller'
import { fencedUpdate, type Versioned } from '@pitboss/storage/fenced-update'
import { isDuplicateKey } from '@pitboss/storage/is-duplicate-key'
import type { SecretBox } from '@pitboss/storage/secret-box'
import { type Db } from 'mongodb'
import { walletKeyOf } from '../rules/movement-keys.ts'

/** A wallet as it is stored; `_id` is the wallet key, the secret is encrypted for that key alone. */
export type WalletDocument = Versioned & {
  readonly operatorId: string
  readonly environment: Scope['environment']
  readonly url: string
  readonly timeoutMs: number
  readonly settleLosses: 'none' | 'zero_credit'
  readonly sealedSecret: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A wallet ready to be called. */
export type Wallet = {
  readonly key: string
  readonly environment: Scope['environment']
  readonly url: string
  readonly timeoutMs: number
  readonly settleLosses: 'none' | 'zero_credit'
  readonly secret: string
}

export type WalletSettings = Pick<WalletDocument, 'url' | 'timeoutMs' | 'settleLosses'>

export type Wallets = {
  find(scope: Scope): Promise<WalletDocument | null>
  /** As `find`, with the secret opened. Read anew each time: a rotated secret has no overlap. */
  open(scope: Scope): Promise<Wallet | null>
  openDocument(document: WalletDocument): Wallet
  /** Changes the settings and keeps the secret; null when there is no wallet. */
  change(scope: Scope, settings: WalletSettings, now: Date): Promise<WalletDocument | null>
  /** Null when there is a wallet already. */
  create(scope: Scope, settings: WalletSettings, secret: string, now: Date): Promise<WalletDocument | null>
  replaceSecret(scope: Scope, secret: string, now: Date): Promise<WalletDocument | null>
  /** Wallet keys in order, at most 500 after `after`. */
  keysAfter(after: string): Promise<string[]>
}

const fencedTriesMax = 10
const keysPageSize = 500

export function createWallets(db: Db, secretBox: SecretBox): Wallets {
  const collection = db.collection<WalletDocument>('wallets')
  const find = (scope: Scope) => collection.findOne({ _id: walletKeyOf(scope) })
  const aadOf = (key: string) => `wallet-secret/${key}`

  const openDocument = (document: WalletDocument): Wallet => ({
    key: document._id,
    environment: document.environment,
    url: document.url,
    timeoutMs: document.timeoutMs,
    settleLosses: document.settleLosses,
    secret: secretBox.open(document.sealedSecret, aadOf(document._id)),
  })

  async function update(scope: Scope, change: Partial<WalletDocument>): Promise<WalletDocument | null> {
    for (let attempt = 1; attempt <= fencedTriesMax; attempt++) {
      const present = await find(scope)
      if (present === null) return null
      const after = await fencedUpdate(collection, present._id, present.version, { $set: change })
      if (after !== null) return after
    }
    throw new Error('the wallet kept changing under a change')
  }

  return {
    find,
    openDocument,
    async open(scope) {
      const document = await find(scope)
      return document === null ? null : openDocument(document)
    },
    change: (scope, settings, now) => update(scope, { ...settings, updatedAt: now }),
    async create(scope, settings, secret, now) {
      const key = walletKeyOf(scope)
      const document: WalletDocument = {
        _id: key,
        version: 1,
        operatorId: scope.operatorId,
        environment: scope.environment,
        ...settings,
        sealedSecret: secretBox.seal(secret, aadOf(key)),
        createdAt: now,
        updatedAt: now,
      }
      try {
        await collection.insertOne(document)
        return document
      } catch (error) {
        if (isDuplicateKey(error)) return null
        throw error
      }
    },
    replaceSecret: (scope, secret, now) =>
      update(scope, {
        sealedSecret: secretBox.seal(secret, aadOf(walletKeyOf(scope))),
        updatedAt: now,
      }),
    async keysAfter(after) {
      const found = await collection
        .find({ _id: { $gt: after } })
        .project<{ _id: string }>({ _id: 1 })
        .sort({ _id: 1 })
        .limit(keysPageSize)
        .toArray()
      return found.map(({ _id }) => _id)
    },
  }
}
