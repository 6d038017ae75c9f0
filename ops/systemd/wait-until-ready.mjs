/** Ends when the server is ready, for ExecStartPost. systemd limits how long that may take. DAYBOOK_URL names a server that speaks HTTPS. */
import { setTimeout as delay } from 'node:timers/promises'

const { DAYBOOK_PORT, DAYBOOK_URL } = process.env
const url = `${DAYBOOK_URL || `http://127.0.0.1:${DAYBOOK_PORT || 7878}`}/readyz`
const isReady = () => fetch(url).then(({ ok }) => ok, () => false)
while (!(await isReady())) await delay(200)
