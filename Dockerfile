# The server. See docs/deployment.md.
#   docker build -t daybook .
#   docker run -p 127.0.0.1:7878:7878 -v daybook:/data -e DAYBOOK_TOKEN=… daybook

# The full image has the compiler that better-sqlite3 needs.
FROM node:20.20.2-bookworm AS build
WORKDIR /src
COPY . .
RUN npm run setup && npm run build && npm run pack -- /tarballs
WORKDIR /app
RUN npm init --yes && npm install --omit=dev --no-audit --no-fund /tarballs/*.tgz

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production DAYBOOK_HOST=0.0.0.0 DAYBOOK_DATA=/data
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
RUN install -d -o node -g node -m 0700 /data
VOLUME /data
USER node
EXPOSE 7878
# The server ends within 10 s of this signal.
STOPSIGNAL SIGTERM
# A start loads the log, which may take long. The server is healthy then, but not yet ready.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "const { DAYBOOK_PORT, DAYBOOK_TLS_CERT } = process.env; require(DAYBOOK_TLS_CERT ? 'https' : 'http').get({ host: '127.0.0.1', port: DAYBOOK_PORT || 7878, path: '/healthz', rejectUnauthorized: false }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "--v8-pool-size=0", "--max-semi-space-size=64", "node_modules/@daybook/adapters/bin/daybook.js"]
CMD ["serve"]
