import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { EngineError } from '../engine-error.ts'

/** Way of starting a program so that it runs as the user that PostgreSQL may run as. */
export type PostgresIdentity = {
  /** The user that owns the files; null when it is the one we run as. */
  uid: number | null
  command(program: string, args: string[]): { program: string; args: string[]; uid?: number; gid?: number }
}

/** Debian's `nobody`. */
const nobody = 65534
/** Linux's numbers; the weakest that serves comes first (containers often have only the second). */
const capabilities = [
  { bit: 2n, name: 'dac_read_search' },
  { bit: 1n, name: 'dac_override' },
]
const setpcapBit = 8n

/**
 * PostgreSQL refuses to run as root, so root starts it as `nobody` (or as the owner of a data folder that an
 * ordinary user made). Where that user cannot reach a folder (a cache below /root, say) it keeps the one
 * right to pass through.
 * @param reached folders that the server must reach. @param dataPath the data folder, if it exists already.
 * @throws EngineError when an ordinary user meets somebody else's data folder or root cannot hand the right
 * on.
 */
export function postgresIdentity(reached: string[], dataPath: string): PostgresIdentity {
  const owner = statSync(dataPath, { throwIfNoEntry: false })?.uid ?? null
  const ownUid = process.getuid?.() ?? 0
  if (ownUid !== 0) {
    if (owner !== null && owner !== ownUid) {
      throw new EngineError(
        `${dataPath} belongs to user ${owner}; start as that user or root, or choose another folder with --data-dir`,
      )
    }
    return { uid: null, command: (program, args) => ({ program, args }) }
  }
  const uid = owner === null || owner === 0 ? nobody : owner
  const blocked = reached.map((path) => blockedAt(path, uid)).find((path) => path !== null) ?? null
  if (blocked === null) return { uid, command: (program, args) => ({ program, args, uid, gid: uid }) }
  const capability = usableCapability()
  if (capability === null) {
    throw new EngineError(
      `PostgreSQL cannot run as root, and user ${uid} may not enter ${blocked}: make it passable (chmod o+x) or choose folders elsewhere with PITBOSS_CACHE_DIR and --data-dir`,
    )
  }
  const prefix = [
    `--reuid=${uid}`,
    `--regid=${uid}`,
    '--clear-groups',
    // else access(2), which initdb asks about its programs, looks at the user alone
    '--securebits=+no_setuid_fixup',
    `--inh-caps=+${capability}`,
    `--ambient-caps=+${capability}`,
  ]
  return { uid, command: (program, args) => ({ program: 'setpriv', args: [...prefix, program, ...args] }) }
}

/** The topmost folder on the way that neither its owner nor others of `uid`'s kind may pass. */
function blockedAt(path: string, uid: number): string | null {
  let blocked: string | null = null
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false })
    if (stat !== undefined && (stat.mode & (stat.uid === uid ? 0o100 : 0o001)) === 0) blocked = folder
    if (folder === dirname(folder)) return blocked
  }
}

function usableCapability(): string | null {
  try {
    accessSync('/usr/bin/setpriv', constants.X_OK)
  } catch {
    return null
  }
  const status = readFileSync('/proc/self/status', 'utf8')
  const mask = (name: string) =>
    BigInt(`0x${new RegExp(`^${name}:\\s*([0-9a-f]+)`, 'm').exec(status)?.[1] ?? '0'}`)
  const has = mask('CapPrm') & mask('CapBnd')
  if (((has >> setpcapBit) & 1n) === 0n) return null
  return capabilities.find(({ bit }) => ((has >> bit) & 1n) === 1n)?.name ?? null
}
