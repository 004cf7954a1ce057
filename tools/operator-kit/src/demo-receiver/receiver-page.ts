/** The demo receiver's page: what arrived last and whether it verified. Reads `/demo/received`. */
export const receiverPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Demo webhook receiver</title>
<style>
  body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1c2430; background: #fbfbfa }
  h1 { font-size: 1.5rem } table { border-collapse: collapse; width: 100%; font-size: 0.85rem }
  th, td { text-align: left; padding: 0.25rem 0.6rem; border-bottom: 1px solid #dde1e6; vertical-align: top }
  td.bad { color: #a3261b; font-weight: 600 } pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 34rem }
</style>
</head>
<body>
<h1>Demo webhook receiver</h1>
<p>Verifies each delivery with the library that operators use and stores it before answering. <span id="total"></span> · <a href="/demo/received">as JSON</a></p>
<table><thead><tr><th>Received</th><th>Event</th><th>Attempt</th><th>Verified</th><th>Answer</th><th>Body</th></tr></thead><tbody id="rows"></tbody></table>
<script type="module">
const cell = (text, name = '') => Object.assign(document.createElement('td'), { textContent: text, className: name })
const show = async () => {
  const { data, total } = await (await fetch('/demo/received?latest=true&limit=50')).json()
  document.getElementById('total').textContent = total + ' deliveries'
  document.getElementById('rows').replaceChildren(...data.map((delivery) => {
    const line = document.createElement('tr')
    const body = document.createElement('td')
    const details = document.createElement('details')
    details.append(Object.assign(document.createElement('summary'), { textContent: delivery.event_id ?? 'no id' }), Object.assign(document.createElement('pre'), { textContent: delivery.raw_body }))
    body.append(details)
    line.append(cell(delivery.received_at), cell((delivery.event_type ?? '') + (delivery.duplicate ? ' (again)' : '')), cell(delivery.attempt ?? ''),
      delivery.verified ? cell('yes') : cell(delivery.reason, 'bad'), cell(delivery.answered_status ?? 'none'), body)
    return line
  }))
}
await show()
setInterval(show, 2000)
</script>
</body>
</html>
`
