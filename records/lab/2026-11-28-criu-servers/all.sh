bash cross.sh nginx headwater 6.12 6.12 6.18 7
bash cross.sh nginx headwater 7 6.12
bash cross.sh nginx stock 6.12 7
bash cross.sh podman headwater 7 7
bash cross.sh podman headwater 6.12 7
bash cross.sh podman headwater 7 6.12
bash cross.sh podman stock 6.12 7
CRIU=41 bash cross.sh nginx headwater 6.12 6.12 7
CRIU=41 bash cross.sh nginx headwater 7 7
