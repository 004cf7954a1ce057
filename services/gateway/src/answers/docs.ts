import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Answer, Inbound } from '../http/inbound.ts'
import { createStaticFiles, fileAnswer, pagePolicy } from './static-files.ts'

/** What the page loads, all from here. */
const assets = new Set(['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'])

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pitboss API</title>
<link rel="icon" type="image/png" href="/v1/public/docs/favicon-32x32.png">
<link rel="stylesheet" href="/v1/public/docs/swagger-ui.css">
</head>
<body>
<main id="docs"></main>
<script src="/v1/public/docs/swagger-ui-bundle.js"></script>
<script src="/v1/public/docs/start.js"></script>
</body>
</html>
`

const start = `window.ui = SwaggerUIBundle({
  url: '/v1/public/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: -1,
  docExpansion: 'none',
  validatorUrl: null,
})
`

const headers = {
  'cache-control': 'no-cache',
  'content-security-policy': `${pagePolicy}; frame-ancestors 'none'`,
} as const

/** `/v1/public/docs`: the OpenAPI description as a page; its files are part of this installation. */
export function createDocs(): (inbound: Inbound) => Promise<Answer> {
  const module = fileURLToPath(import.meta.resolve('@fastify/swagger-ui'))
  const files = createStaticFiles(join(dirname(module), 'static'))
  return async ({ params, raw }) => {
    const name = params['*'] ?? ''
    if (name === '') {
      return { status: 200, headers, content: { type: 'text/html; charset=utf-8', data: page } }
    }
    if (name === 'start.js') {
      return { status: 200, headers, content: { type: 'text/javascript; charset=utf-8', data: start } }
    }
    if (!assets.has(name)) throw new ServiceError('NOT_FOUND')
    return fileAnswer(files, name, { frameAncestors: "'none'", headers: raw.headers })
  }
}
