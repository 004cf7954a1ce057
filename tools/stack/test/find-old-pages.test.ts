import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findOldPages } from '../src/find-old-pages.ts'

t.test('pages that were built from other files than there are now are told, with the file', (t) => {
  const root = t.testdir({ web: { 'page.tsx': 'one', 'page.css': 'two' } })
  t.match(findOldPages(root), /^not built/)
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  mkdirSync(join(root, 'web/dist'))
  const sources = { 'web/page.tsx': digest('one'), 'web/page.css': digest('two') }
  writeFileSync(join(root, 'web/dist/sources.json'), JSON.stringify(sources))
  t.equal(findOldPages(root), null)
  writeFileSync(join(root, 'web/page.css'), 'changed')
  t.equal(findOldPages(root), 'older than web/page.css: npm run build:web')
  rmSync(join(root, 'web/page.tsx'))
  t.equal(findOldPages(root), 'older than web/page.tsx and 1 more: npm run build:web')
  t.end()
})
