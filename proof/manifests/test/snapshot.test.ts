import { readFileSync } from 'node:fs'
import t from 'tap'
import { snapshotFile, takeSnapshot } from '../src/snapshot.ts'

t.test('production renders to what the repository shows', async (t) => {
  t.equal(
    readFileSync(snapshotFile, 'utf8'),
    await takeSnapshot(),
    'npx node proof/manifests/src/write-snapshot-main.ts writes the file',
  )
})
