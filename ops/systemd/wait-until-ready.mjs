/**
 * Ends when the server is ready, for ExecStartPost. systemd limits how long that may take. The variables are those of the server; if its address is in a
 * configuration file, DAYBOOK_URL names it.
 */
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'

const { DAYBOOK_HOST, DAYBOOK_PORT, DAYBOOK_TLS_CERT, DAYBOOK_URL } = process.env
const host = !DAYBOOK_HOST || DAYBOOK_HOST === '0.0.0.0' || DAYBOOK_HOST === '::' ? '127.0.0.1' : DAYBOOK_HOST
const own = `${DAYBOOK_TLS_CERT ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${DAYBOOK_PORT || 7878}`
const url = `${(DAYBOOK_URL || own).replace(/\/$/, '')}/readyz`
const get = url.startsWith('https:') ? getHttps : getHttp

const isReady = () =>
  new Promise((resolve) => {
    // It asks its own machine and sends no secret, and the certificate has another name.
    const request = get(url, { rejectUnauthorized: false, timeout: 5_000 }, (answer) => resolve(answer.resume().statusCode === 200))
    request.on('timeout', () => request.destroy()).on('error', () => resolve(false))
  })
while (!(await isReady())) await delay(200)
process.exit(0)
