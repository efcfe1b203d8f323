# Static binaries in images with nothing else in them: no shell, no libraries,
# no root. `docker build --target sim .` makes the simulator's.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ENV CGO_ENABLED=0
RUN go build -buildvcs=false -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./cmd/fabric-broker ./cmd/fabric-sim
# The state directory has to be its owner's alone, also as a new volume.
RUN install -d -m 0700 -o 65532 -g 65532 /out/state

FROM scratch AS sim
COPY --from=build /out/fabric-sim /fabric-sim
USER 65532:65532
ENTRYPOINT ["/fabric-sim"]

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/fabric-broker /fabric-broker
COPY --from=build --chown=65532:65532 /out/state /state
ENV EQUINIX_MCP_STATE_DIR=/state
VOLUME /state
USER 65532:65532
EXPOSE 8080
# SIGTERM asks nobody any more and finishes what was sent: give it two minutes,
# docker stop --time 120.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/fabric-broker"]
CMD ["http", "--listen=0.0.0.0:8080"]
