import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { snapshotFile, takeSnapshot } from './snapshot.ts'

/** `npx node proof/manifests/src/write-snapshot-main.ts`: writes what production renders to. */
mkdirSync(dirname(snapshotFile), { recursive: true })
writeFileSync(snapshotFile, await takeSnapshot())
