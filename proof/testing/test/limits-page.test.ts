import { readFileSync } from 'node:fs'
import t from 'tap'
import { renderLimits } from '../src/render-limits.ts'

t.test('the page of limits is what the service takes', async (t) => {
  const page = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8')
  t.equal(page, renderLimits(), 'npm run limits writes it')
})
